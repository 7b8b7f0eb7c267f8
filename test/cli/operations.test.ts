import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';
import { projectFolder } from '../support/documentation.ts';
import { openTestGateway, serve } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const { prisma } = gateway.database;
const url = await serve(gateway);
const { pms, json } = openCommandLine(url);

test('pms companies and pms locations list only companies and locations in the scope of the API key', async () => {
  const { key, companyId, locationId } = await gateway.newTenant();
  const company = await prisma.company.findUniqueOrThrow({ where: { id: companyId } });
  const location = await prisma.location.findUniqueOrThrow({ where: { id: locationId } });
  expect(await json(key, 'companies', 'list')).toMatchObject([{ id: companyId, slug: company.slug }]);
  expect(await json(key, 'locations', 'list')).toMatchObject([
    { id: locationId, companyId, slug: location.slug, name: location.name },
  ]);
  expect((await pms(key, 'locations', 'list')).out).toContain(location.slug);
});

test('`pms locations update` sets the maximum stay of the vehicles at a location', async () => {
  const { key, companyId, locationId } = await gateway.newTenant();
  const update = (hours: string) => ['locations', 'update', locationId, '--longest-stay', hours];
  expect(await json(key, ...update('72'))).toMatchObject({ id: locationId, longestStayHours: 72 });
  expect(await json(key, 'locations', 'list')).toMatchObject([{ id: locationId, longestStayHours: 72 }]);
  expect(await json(key, ...update('forever'))).toMatchObject({ longestStayHours: null });
  expect((await pms(key, ...update('72'))).out).toMatch(/longest stay \(hours\)\s+72/);

  for (const hours of ['-1', '1.5', 'never', '']) {
    expect(await pms(key, ...update(hours))).toMatchObject({ code: 2 });
  }
  expect(await pms(key, 'locations', 'update', locationId)).toMatchObject({
    code: 2,
    err: expect.stringContaining('give at least one option'),
  });
  expect(await pms(key, ...update('0'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('longestStayHours'),
  });
  const reader = await gateway.newKey({ companyIds: [companyId], permissions: ['READ_LOCATIONS'] });
  expect(await pms(reader, ...update('1'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('WRITE_LOCATIONS'),
  });
});

describe('the commands pms events and pms status', () => {
  test('`pms events record` stores only one parking event when a user sends the same event id twice', async () => {
    const { key, locationId } = await gateway.newTenant();
    const command = [
      'events',
      'record',
      '--location',
      locationId,
      '--kind',
      'entry',
      '--plate',
      'DXB/A/7001',
    ];
    const first = await json(key, ...command, '--event-id', 'gate-1', '--at', '2026-01-31T08:00:00Z');
    expect(first).toMatchObject({
      eventId: 'gate-1',
      kind: 'ENTRY',
      plateNumber: '7001',
      occurredAt: '2026-01-31T08:00:00.000Z',
      listed: false,
    });
    const again = await json(key, ...command, '--event-id', 'gate-1', '--at', '2026-01-31T08:00:00Z');
    expect(again.id).toBe(first.id);
    expect(await json(key, 'status')).toMatchObject([{ locationId, occupied: 1 }]);
    expect((await json(key, ...command, '--kind', 'exit')).eventId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await json(key, 'status', locationId)).toMatchObject([{ locationId, occupied: 0 }]);
  });

  test('pms status --watch accepts at most 50 locations, because each location needs its own event stream', async () => {
    const { key, companyId } = await gateway.newTenant();
    for (let index = 0; index < 50; index += 1) await gateway.newLocation(companyId);
    const { code, out, err } = await pms(key, 'status', '--watch');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('At most 50 locations can be watched at once');
  });

  test('pms status --watch prints each change of the status of a location as a line of JSON', async () => {
    const { key, locationId } = await gateway.newTenant();
    const watching: ChildProcess = spawn('node', ['dist/pms.js', '--json', 'status', locationId, '--watch'], {
      cwd: projectFolder,
      env: { ...process.env, PMS_URL: url, PMS_API_KEY: key },
    });
    onTestFinished(() => void watching.kill());
    const seen: number[] = [];
    createInterface(watching.stdout!).on('line', (line) => seen.push(JSON.parse(line).occupied));
    await expect.poll(() => seen).toEqual([0]);
    await json(key, 'events', 'record', '--location', locationId, '--kind', 'entry', '--plate', 'DXB/A/7');
    await expect.poll(() => seen.at(-1)).toBe(1);
  });
});

describe('the command pms occupancy', () => {
  test('pms occupancy sends either a list of the vehicles inside a location or only their number, and prints the new occupancy count', async () => {
    const { key, locationId } = await gateway.newTenant();
    const folder = await mkdtemp(join(tmpdir(), 'pms-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'inside.txt');
    await writeFile(file, 'DXB/A/7001\n\nAUH 17 7002\r\n');
    const at = ['--at', '2026-03-01T08:00:00Z'];
    const count = ['occupancy', 'set-inside', file, '--location', locationId, ...at];
    expect(await json(key, ...count)).toMatchObject({ locationId, occupied: 2, adjustment: 0 });
    expect(await json(key, ...count)).toMatchObject({ occupied: 2 });
    const adjusted = ['occupancy', 'adjust', '--location', locationId, '--occupied', '5', ...at];
    expect(await json(key, ...adjusted)).toMatchObject({ occupied: 5, adjustment: 3 });
    expect((await pms(key, 'status', locationId)).out).toContain('5');

    await writeFile(file, 'DXB/A/7001\nDXB\n');
    expect(await pms(key, ...count)).toMatchObject({ code: 2, err: expect.stringContaining('Line 2') });
    expect(await pms(key, 'occupancy', 'set-inside', `${file}.none`, '--location', locationId)).toMatchObject(
      {
        code: 2,
        err: expect.stringContaining('no such file'),
      },
    );
  });
});

describe('the command pms webhooks', () => {
  test('pms webhooks can create, list, change and delete a webhook, and rotate its secret', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const hook = `https://203-0-113.example/${companyId}`;
    const created = await pms(key, '--json', 'webhooks', 'create', hook, '--event', 'PARKING_ENTERED');
    expect(created).toMatchObject({ code: 0, err: expect.stringContaining('shown only once') });
    const { id, secret } = JSON.parse(created.out);
    expect(secret).toMatch(/^whsec_/);
    expect(await json(key, 'webhooks', 'list')).toMatchObject([{ id, url: hook, enabled: true }]);

    const changes = ['--location', locationId, '--event', 'LOCATION_FULL', 'PARKING_EXITED', '--disable'];
    expect(await json(key, 'webhooks', 'update', hook, ...changes)).toMatchObject({
      locationIds: [locationId],
      events: ['LOCATION_FULL', 'PARKING_EXITED'],
      enabled: false,
    });
    expect((await pms(key, 'webhooks', 'list')).out).toContain('disabled');
    expect(await json(key, 'webhooks', 'update', id, '--all-locations', '--enable')).toMatchObject({
      locationIds: [],
      events: ['LOCATION_FULL', 'PARKING_EXITED'],
      enabled: true,
    });

    const rotated = await pms(key, '--json', 'webhooks', 'rotate', id, '--grace-seconds', '60');
    expect(JSON.parse(rotated.out).secret).not.toBe(secret);
    expect(await json(key, 'webhooks', 'delete', hook)).toMatchObject({ id });
    expect(await json(key, 'webhooks', 'list')).toEqual([]);
  });

  test('pms webhooks can test a webhook, list its deliveries and resend failed deliveries', async () => {
    const { key } = await gateway.newTenant();
    const receiver = await startReceiver();
    const created = await pms(
      key,
      '--json',
      'webhooks',
      'create',
      receiver.url,
      '--event',
      'PARKING_ENTERED',
    );
    const { id } = JSON.parse(created.out);
    const tested = await pms(key, '--json', 'webhooks', 'test', id);
    const delivery = JSON.parse(tested.out);
    await expect
      .poll(() => json(key, 'webhooks', 'deliveries', id, '--status', 'delivered'))
      .toMatchObject([{ id: delivery.id, attempts: [{ httpStatus: expect.any(Number) }] }]);
    expect((await pms(key, 'webhooks', 'deliveries', id)).out).toContain('DELIVERED');
    expect(await json(key, 'webhooks', 'redeliver', delivery.id)).toMatchObject({ id: delivery.id });
    await expect
      .poll(() => receiver.messages.map((message) => message.id))
      .toEqual([delivery.id, delivery.id]);
    expect((await pms(key, 'webhooks', 'redeliver', 'no-such')).err).toContain('not found');
    expect(await json(key, 'webhooks', 'recover', id, '--since', '2026-01-01T00:00:00Z')).toEqual({
      deliveries: 0,
    });
  });
});
