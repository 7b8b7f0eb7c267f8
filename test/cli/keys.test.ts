import { describe, expect, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { pms, json, fileOf } = openCommandLine(await serve(gateway));

describe('the commands pms whoami and pms keys', () => {
  test('pms whoami shows the API key that it uses, as a table or as JSON', async () => {
    const { key, companyId } = await gateway.newTenant();
    expect(await json(key, 'whoami')).toMatchObject({ name: 'Test', companyIds: [companyId] });
    const { out, code } = await pms(key, 'whoami');
    expect(code).toBe(0);
    expect(out).toMatch(/companies\s+[0-9a-f-]{36}/);
  });

  test('pms keys can issue, list, change, rotate and revoke an API key', async () => {
    const { companyId } = await gateway.newTenant();
    const admin = await gateway.newKey({ companyIds: [companyId] });
    const created = await json(
      admin,
      ...['keys', 'create', '--name', 'gate 1', '--permission', 'READ_WHITELIST', 'WRITE_ACTIVITY'],
      ...['--company', companyId, '--hourly-limit', '50', '--expires-at', '2099-01-01T00:00:00Z'],
    );
    expect(created).toMatchObject({
      name: 'gate 1',
      permissions: ['READ_WHITELIST', 'WRITE_ACTIVITY'],
      companyIds: [companyId],
      hourlyLimit: 50,
      expiresAt: '2099-01-01T00:00:00.000Z',
    });
    expect((await gateway.rest('GET', '/health', { key: created.secret })).status).toBe(200);
    expect((await json(admin, 'keys', 'list')).map(({ id }: { id: string }) => id)).toContain(created.id);
    expect((await pms(admin, 'keys', 'list')).out).toContain('gate 1');

    const changes = ['--name', 'gate 2', '--hourly-limit', '40', '--expires-at', 'never'];
    expect(await json(admin, 'keys', 'update', created.id, ...changes)).toMatchObject({
      name: 'gate 2',
      permissions: ['READ_WHITELIST', 'WRITE_ACTIVITY'],
      companyIds: [companyId],
      hourlyLimit: 40,
      expiresAt: null,
    });

    const rotated = await json(admin, 'keys', 'rotate', created.id, '--grace-seconds', '0');
    expect(rotated).toMatchObject({ id: created.id });
    expect((await gateway.rest('GET', '/health', { key: created.secret })).status).toBe(401);
    expect((await gateway.rest('GET', '/health', { key: rotated.secret })).status).toBe(200);

    expect(await json(admin, 'keys', 'revoke', created.id)).toMatchObject({ revokedAt: expect.any(String) });
    expect((await gateway.rest('GET', '/health', { key: rotated.secret })).status).toBe(401);
  });

  test("pms keys create issues an operator's API key only with the option --unrestricted", async () => {
    const operator = await gateway.newKey({ unrestricted: true });
    const command = ['keys', 'create', '--name', 'x', '--permission', 'ADMIN'];
    expect(await json(operator, ...command)).toMatchObject({ unrestricted: false });
    expect(await json(operator, ...command, '--unrestricted')).toMatchObject({ unrestricted: true });
  });

  test('pms keys warns on standard error that the secret of an API key is shown only once', async () => {
    const { companyId } = await gateway.newTenant();
    const admin = await gateway.newKey({ companyIds: [companyId] });
    const command = ['keys', 'create', '--name', 'x', '--permission', 'READ_STATUS', '--company', companyId];
    for (const { out, err } of [await pms(admin, ...command), await pms(admin, '--json', ...command)]) {
      expect(out).toMatch(/pms_test_\w{49}/);
      expect(out).not.toContain('only once');
      expect(err).toContain('only once');
    }
  });

  test('pms reads the API key from a file', async () => {
    const { key } = await gateway.newTenant();
    const file = fileOf(`${key}\n`);
    expect((await pms(undefined, '--key-file', file, 'whoami')).code).toBe(0);
  });
});

describe('the command pms usage', () => {
  test('pms usage shows how many requests an API key sent in each hour and for each operation', async () => {
    const { companyId } = await gateway.newTenant();
    const admin = await gateway.newKey({ companyIds: [companyId] });
    await gateway.rest('GET', '/health', { key: admin });
    const { id } = await json(admin, 'whoami');
    const health = expect.objectContaining({
      operation: 'GET /health',
      surface: 'rest',
      requests: 1,
      refused: 0,
    });
    await expect.poll(() => json(admin, 'usage')).toContainEqual(health);
    expect(await json(admin, 'usage', id)).toContainEqual(health);
    expect((await pms(admin, 'usage')).out).toMatch(/GET \/health\s+rest\s+1 /);
    expect(await json(admin, 'usage', '--to', '2026-01-01T00:00:00Z')).toEqual([]);
  });
});

test('pms usage --deprecated exits with status 3 when an API key uses a deprecated operation', async () => {
  const { key, locationId } = await gateway.newTenant();
  expect((await pms(key, 'usage', '--deprecated')).code).toBe(0);
  await gateway.rest('GET', `/locations/${locationId}/residents`, { key });
  await expect.poll(async () => (await pms(key, 'usage', '--deprecated')).code).toBe(3);
  const [use] = JSON.parse((await pms(key, '--json', 'usage', '--deprecated')).out);
  expect(use).toMatchObject({ operation: 'GET /locations/{locationId}/residents', requests: 1 });
  expect((await pms(key, 'usage', '--deprecated', '--from', '2026-01-01T00:00:00Z')).code).toBe(2);
});
