import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entryColumns } from '../../cli/whitelist-csv.ts';
import { weekdays } from '../../src/whitelist/hours.ts';
import { openCommandLine } from '../support/command-line.ts';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';
import { forwardGraph, startHttpServer } from '../support/http-server.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;
const url = await serve(gateway);
const { pms, json, fileOf, folder } = openCommandLine(url);

const header = entryColumns.join(',');

describe('the command pms export', () => {
  const text = (max: number) =>
    fc
      .string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'ü', 'م', '=', ';', '\t'), maxLength: max })
      .filter((value) => value.length <= max);
  const entry = fc.record({
    referenceId: text(20).filter((value) => value.trim() !== ''),
    vehicleType: fc.option(text(20)),
    note: fc.option(text(30)),
    hours: fc.option(
      fc.array(
        fc.record({
          days: fc.subarray([...weekdays], { minLength: 1 }),
          from: fc.constantFrom('00:00', '07:30'),
          to: fc.constantFrom('05:00', '24:00'),
        }),
        { maxLength: 2 },
      ),
    ),
    maxEntries: fc.option(fc.integer({ min: 1, max: 99 })),
    validFrom: fc.option(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })),
  });

  test('pms export and pms import copy a whitelist without any change', async () => {
    const { key, companyId } = await gateway.newTenant();
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 12 }), async (entries) => {
        const [from, to] = [await gateway.newLocation(companyId), await gateway.newLocation(companyId)];
        for (const [index, values] of entries.entries()) {
          const body = newEntry({ ...values, plateNumber: String(index) });
          const created = await gateway.rest('POST', `/locations/${from}/whitelist`, { key, body });
          expect(created.status).toBe(201);
        }
        const { out } = await pms(key, 'export', '--location', from);
        await json(key, 'import', fileOf(out), '--location', to, '--mode', 'replace');
        expect((await pms(key, 'export', '--location', to)).out).toBe(out);
        const rows = (locationId: string) =>
          prisma.whitelistEntry.findMany({
            where: { locationId },
            orderBy: { id: 'asc' },
            omit: { id: true, locationId: true, createdAt: true, updatedAt: true },
          });
        expect(await rows(to)).toEqual(await rows(from));
      }),
      { numRuns: 15 },
    );
  });

  test('pms export writes all pages of a whitelist to one file', async () => {
    const { key, locationId } = await gateway.newTenant();
    const rows = Array.from({ length: 250 }, (_, index) => `unit,DXB,A,${index},,,,,,`);
    await json(key, 'import', fileOf([header, ...rows].join('\n')), '--location', locationId);
    const file = join(folder, 'export.csv');
    expect(await pms(key, 'export', '--location', locationId, '--output', file)).toEqual({
      code: 0,
      out: '',
      err: '',
    });
    expect(readFileSync(file, 'utf8')).toBe([header, ...rows, ''].join('\n'));
  });

  test('pms export sends one request for every 5,000 whitelist entries', async () => {
    const { key, locationId } = await gateway.newTenant();
    const rows = Array.from({ length: 5001 }, (_, index) => `unit,DXB,A,${index},,,,,,`);
    await json(
      key,
      'import',
      fileOf([header, ...rows].join('\n')),
      '--location',
      locationId,
      '--batch-size',
      '10000',
    );
    const gate = await gateway.newKey({ locationIds: [locationId], hourlyLimit: 2 });
    const { code, out } = await pms(gate, 'export', '--location', locationId);
    expect(code).toBe(0);
    expect(out).toBe([header, ...rows, ''].join('\n'));
  });

  test('when a plate moves to another whitelist entry during an export, pms export writes the plate only once', async () => {
    const { key, locationId } = await gateway.newTenant();
    const at = ['--location', locationId];
    const rows = Array.from({ length: 5001 }, (_, index) => `unit,DXB,A,${index},,,,,,`);
    await json(key, 'import', fileOf([header, ...rows].join('\n')), ...at);
    let requests = 0;
    const proxy = await startHttpServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      if (body.includes('whitelistChanges') && ++requests === 2) {
        await json(key, 'whitelist', 'remove', 'DXB/A/0', ...at);
        await json(key, 'whitelist', 'add', 'DXB/A/0', ...at, '--reference', 'second');
      }
      await forwardGraph({ url, key, body }, response);
    });
    const { out } = await pms(key, '--url', proxy, 'export', ...at);
    const exported = out.trim().split('\n').slice(1);
    expect(exported).toHaveLength(5001);
    expect(exported.filter((row) => row.includes(',A,0,'))).toEqual(['second,DXB,A,0,,,,,,']);
  });

  test('when pms export fails, the output file keeps its previous content', async () => {
    const file = fileOf('earlier');
    expect(await pms('key', 'export', '--location', 'x', '--output', file)).toMatchObject({ code: 1 });
    expect(readFileSync(file, 'utf8')).toBe('earlier');
  });
});

describe('the command pms whitelist', () => {
  test('pms whitelist can add, find, list and remove the vehicles of a whitelist', async () => {
    const { key, locationId } = await gateway.newTenant();
    const at = ['--location', locationId];
    const added = await json(
      key,
      ...['whitelist', 'add', 'DXB/A/7001', ...at, '--reference', 'unit-7', '--note', 'red'],
      ...['--until', '2020-01-01T00:00:00Z'],
    );
    expect(added).toMatchObject({ plateNumber: '7001', referenceId: 'unit-7', note: 'red' });
    const found = { allowed: false, reason: 'EXPIRED', entry: added };
    expect(await json(key, 'whitelist', 'find', 'DXB A 7001', ...at)).toMatchObject(found);
    expect((await pms(key, 'whitelist', 'find', 'DXB-A-7001', ...at)).out).toMatch(/may enter\s+no\n/);

    await json(key, 'whitelist', 'add', 'AUH/17/8', ...at, '--reference', 'unit-8');
    expect(await json(key, 'whitelist', 'list', ...at)).toMatchObject([added, { plateNumber: '8' }]);
    expect(await json(key, 'whitelist', 'list', ...at, '--reference', 'unit-7')).toEqual([added]);
    const limited = await pms(key, 'whitelist', 'list', ...at, '--limit', '1');
    expect(limited.out).toContain('DXB A 7001');
    expect(limited.out).not.toContain('AUH');
    expect(limited.err).toContain('Only the first 1 entries are shown');

    expect(await json(key, 'whitelist', 'remove', 'DXB/A/7001', ...at)).toEqual(added);
    expect(await json(key, 'whitelist', 'list', ...at)).toHaveLength(1);
    expect(await pms(key, 'whitelist', 'remove', 'DXB/A/7001', ...at)).toMatchObject({
      code: 1,
      err: 'The plate DXB A 7001 is not in the whitelist.\n',
    });
  });

  test('`pms whitelist find --tolerance 1` finds the plate DXB/B/7001 when the user searches for DXB/8/7001', async () => {
    const { key, locationId } = await gateway.newTenant();
    const at = ['--location', locationId];
    await json(key, 'whitelist', 'add', 'DXB/B/7001', ...at, '--reference', 'unit-7');
    const { out } = await pms(key, 'whitelist', 'find', 'DXB/8/7001', ...at, '--tolerance', '1');
    expect(out).toContain('DXB B 7001');
  });

  test('pms whitelist can set the hours in which a vehicle may enter, and how often the vehicle may enter', async () => {
    const { key, locationId } = await gateway.newTenant();
    const at = ['--location', locationId];
    const added = await json(
      key,
      ...['whitelist', 'add', 'DXB/A/7001', ...at, '--reference', 'unit-7'],
      ...['--hours', 'mon-fri 07:00-19:00', '--max-entries', '2'],
    );
    expect(added).toMatchObject({
      maxEntries: 2,
      hours: [{ days: { length: 5 }, from: '07:00', to: '19:00' }],
    });
    const { out } = await pms(key, 'whitelist', 'hours', 'DXB/A/7001', 'SAT,SUN 22:00-06:00', ...at);
    expect(out).toContain('SAT,SUN 22:00-06:00');
    expect(await json(key, 'whitelist', 'hours', 'DXB/A/7001', '', ...at)).toMatchObject({
      hours: [],
      maxEntries: 2,
    });
    expect(await pms(key, 'whitelist', 'hours', 'DXB/A/7001', 'often', ...at)).toMatchObject({ code: 2 });
  });

  test('`pms check` accepts the text that a camera read from a plate, and decides whether the vehicle may enter', async () => {
    const { key, locationId } = await gateway.newTenant();
    const at = ['--location', locationId];
    await json(key, 'whitelist', 'add', 'DXB/B/7001', ...at, '--reference', 'unit-7');
    await json(key, 'whitelist', 'add', 'SHJ/B/7001', ...at, '--reference', 'unit-8');
    expect(await json(key, 'check', ...at, 'dxb-b 7001')).toMatchObject({
      allowed: true,
      entry: { referenceId: 'unit-7' },
    });
    expect(await json(key, 'check', ...at, '--plate-type', 'SHJ', 'B 7001')).toMatchObject({
      entry: { referenceId: 'unit-8' },
    });
    const { out } = await pms(key, 'check', ...at, 'X 1', '--alternative', 'Y 1', '--alternative', 'B 7001');
    expect(out).toMatch(/may enter\s+no\n/);
    expect(out).toContain('SHJ B 7001');
    expect((await pms(key, 'check', ...at, 'SHJ B 7001')).out).toContain('hours passed: At all times');
    expect(await json(key, 'check', ...at, 'DXB 8 7001', '--tolerance', '1')).toMatchObject({
      allowed: true,
    });
  });
});

describe('the command pms quotas', () => {
  test('pms quotas can set, list, export and import quotas', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const at = ['--location', locationId];
    expect(
      await json(key, 'quotas', 'set', 'unit-7', ...at, '--inside', '2', '--enforcement', 'report'),
    ).toEqual({ referenceId: 'unit-7', inside: 2, enforcement: 'REPORT', used: 0 });
    await json(key, 'quotas', 'set', 'unit, 8', ...at, '--inside', '0');
    const { out } = await pms(key, 'quotas', 'export', ...at);
    expect(out).toBe('referenceId,inside,enforcement\nunit-7,2,REPORT\n"unit, 8",0,HARD\n');
    const other = ['--location', await gateway.newLocation(companyId)];
    expect(await json(key, 'quotas', 'import', fileOf(out), ...other)).toEqual({ quotas: 2 });
    expect((await pms(key, 'quotas', 'export', ...other)).out).toBe(out);
    await json(
      key,
      'quotas',
      'import',
      fileOf('referenceId,inside,enforcement\nunit-7,,\nunit-9,1,'),
      ...other,
    );
    expect(await json(key, 'quotas', 'list', ...other)).toMatchObject([
      { referenceId: 'unit, 8' },
      { referenceId: 'unit-9', inside: 1, enforcement: 'HARD' },
    ]);
    expect(await json(key, 'quotas', 'set', 'unit-9', ...other)).toMatchObject({ inside: 1 });
    expect(await json(key, 'quotas', 'list', ...other)).toHaveLength(1);
  });

  test.each([
    ['unit,DXB', 'Line 1: the column referenceId, inside, enforcement is missing'],
    ['referenceId,inside,enforcement\nunit-7,many,', 'Line 2: inside must be a whole number'],
    ['referenceId,inside,enforcement\nunit-7,99999999999999999999,', 'Line 2: inside must be a whole number'],
    ['referenceId,inside,enforcement\nunit-7,1,soft', 'Line 2: enforcement must be HARD or REPORT'],
    [
      'referenceId,inside,enforcement\nunit-7,1,\n\nunit-7,2,',
      'Line 4: line 2 already has a quota of unit-7',
    ],
  ])(
    '`pms quotas import` refuses a file with the content %j and explains the error',
    async (file, message) => {
      const { key, locationId } = await gateway.newTenant();
      const { code, err } = await pms(key, 'quotas', 'import', fileOf(file), '--location', locationId);
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
    },
  );

  test('when a line is rejected, `pms quotas import` prints the line number and the number of quotas that it has already set', async () => {
    const { key, locationId } = await gateway.newTenant();
    const at = ['--location', locationId];
    const row = (index: number) => `unit-${index},${index === 1_400 ? '99999999999' : '1'},`;
    const fileFrom = (first: number) =>
      fileOf(
        [
          'referenceId,inside,enforcement',
          ...Array.from({ length: 1_500 - first }, (_, n) => row(first + n)),
        ].join('\n'),
      );
    expect(await pms(key, 'quotas', 'import', fileFrom(0), ...at)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Line 1402 was rejected\.\n[^]*Up to line 1001, 1000 quotas are set\./),
    });
    expect(await json(key, 'quotas', 'list', ...at)).toHaveLength(1_000);
    const other = ['--location', await gateway.newLocation((await gateway.newTenant()).companyId)];
    expect(await pms(key, 'quotas', 'import', fileFrom(1_000), ...at)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Line 402 was rejected\.\n[^]*No quotas are set\./),
    });
    expect(await pms(key, 'quotas', 'import', fileFrom(1_401), ...other)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'This failed for lines 2 to 100. Nothing after them was sent. No quotas are set.',
      ),
    });
  });
});
