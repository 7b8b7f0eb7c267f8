import { describe, expect, test } from 'vitest';
import { everyPermission, type KeyOptions, openTestGateway } from '../support/harness.ts';
import { keyOperations } from '../support/keys.ts';

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ OPERATOR_API_KEY: operator });
const keys = keyOperations(gateway);

const soon = new Date(Date.now() + 3_600_000);
const later = new Date(soon.getTime() + 1000);

describe("what an operator's API key can grant to other API keys", () => {
  test("an operator's API key can issue a new API key that has an empty scope, and has higher rate limits than the operator's API key itself", async () => {
    const limits = { hourlyLimit: 10_000_000, burstLimit: 10_000_000 };
    expect((await keys.create(operator, limits)).apiKey).toMatchObject({
      ...limits,
      unrestricted: false,
      companyIds: [],
    });
  });

  test.each([[{}], [{ companyIds: [] }], [{ companyIds: [], locationIds: [], unrestricted: false }]])(
    "when the input for a new API key is %j, the new API key is not an operator's API key",
    async (input) => {
      const { apiKey, secret } = await keys.create(operator, { permissions: everyPermission, ...input });
      expect(apiKey.unrestricted).toBe(false);
      expect(await keys.list(secret)).toEqual([]);
    },
  );

  test("an API key that is created with the field `unrestricted` set to true is an operator's API key", async () => {
    const { secret, apiKey } = await keys.create(operator, {
      permissions: ['READ_STATUS'],
      unrestricted: true,
    });
    expect(apiKey).toMatchObject({ unrestricted: true, permissions: ['READ_STATUS'] });
    const { locationId } = await gateway.newTenant();
    const status = await gateway.rest('GET', `/locations/${locationId}/status`, { key: secret });
    expect(status.status).toBe(200);
  });

  test("a new operator's API key cannot be limited to companies or locations", async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const refusal = { code: 'VALIDATION_ERROR', details: { field: 'unrestricted' } };
    for (const scope of [{ companyIds: [companyId] }, { locationIds: [locationId] }]) {
      expect(await keys.create(operator, { unrestricted: true, ...scope })).toMatchObject(refusal);
    }
  });

  test("an existing operator's API key cannot be limited to companies or locations", async () => {
    const { companyId } = await gateway.newTenant();
    const { apiKey } = await keys.create(operator, { unrestricted: true });
    expect(await keys.update(operator, apiKey.id, { companyIds: [companyId] })).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'companyIds' },
    });
  });

  test("an operator's API key is not visible to restricted API keys", async () => {
    const { key: admin } = await gateway.newTenant();
    const { apiKey } = await keys.create(operator, { unrestricted: true });
    expect(await keys.revoke(admin, apiKey.id)).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe("what an operator's API key with few permissions and an expiry can grant to other API keys", () => {
  const limited: KeyOptions = {
    unrestricted: true,
    permissions: ['ADMIN', 'READ_LOCATIONS'],
    hourlyLimit: 500,
    burstLimit: 50,
    expiresAt: soon,
  };
  const newLimited = () => gateway.newKey(limited);

  test.each([
    ['permissions', { permissions: ['ADMIN', 'WRITE_WHITELIST'] }],
    ['permissions', { permissions: everyPermission, unrestricted: true }],
    ['expiresAt', { expiresAt: later }],
    ['expiresAt', { expiresAt: later, unrestricted: true }],
  ])(
    "an operator's API key cannot issue an API key that has more permissions or expires later than the operator's API key (field %s)",
    async (field, more) => {
      expect(await keys.create(await newLimited(), more)).toMatchObject({
        code: 'FORBIDDEN',
        details: { field },
      });
    },
  );

  test.each([
    ['permissions', { permissions: ['WRITE_WHITELIST'] }],
    ['expiresAt', { expiresAt: later }],
    ['expiresAt', { expiresAt: null }],
  ])(
    "an operator's API key cannot change another API key so that it has more permissions or expires later than the operator's API key (field %s)",
    async (field, more) => {
      const key = await newLimited();
      const { apiKey } = await keys.create(key, { unrestricted: true });
      for (const id of [apiKey.id, await keys.idOf(key)]) {
        expect(await keys.update(key, id, more)).toMatchObject({ code: 'FORBIDDEN', details: { field } });
      }
    },
  );

  test("when an operator's API key with an expiry issues another operator's API key, the new API key gets the same expiry", async () => {
    const key = await newLimited();
    const { apiKey, secret } = await keys.create(key, {
      permissions: ['ADMIN', 'READ_LOCATIONS'],
      unrestricted: true,
    });
    expect(apiKey).toMatchObject({ unrestricted: true, expiresAt: soon.toISOString() });
    expect(await keys.update(key, apiKey.id, { name: 'Renamed' })).toMatchObject({ name: 'Renamed' });
    expect((await keys.rotate(key, apiKey.id)).apiKey.expiresAt).toBe(soon.toISOString());
    expect(await keys.statusWith(secret)).toBe(200);
  });

  test("an operator's API key can issue, change and rotate API keys with higher rate limits than its own", async () => {
    const key = await newLimited();
    const limits = { hourlyLimit: 5000, burstLimit: 500 };
    const { apiKey } = await keys.create(key, limits);
    expect(apiKey).toMatchObject(limits);
    expect(await keys.update(key, apiKey.id, { hourlyLimit: 6000 })).toMatchObject({ hourlyLimit: 6000 });
    expect((await keys.rotate(key, apiKey.id)).apiKey).toMatchObject({ hourlyLimit: 6000 });
  });

  const stronger: [string, () => Promise<string>][] = [
    ['the key from OPERATOR_API_KEY', async () => operator],
    [
      "an operator's key with one more permission",
      () => gateway.newKey({ ...limited, permissions: everyPermission }),
    ],
    ["an operator's key with a later expiry", () => gateway.newKey({ ...limited, expiresAt: later })],
    [
      'a restricted key with one more permission',
      async () => gateway.newKey({ companyIds: [await gateway.newCompany()], expiresAt: soon }),
    ],
    [
      'a restricted key without an expiry',
      async () => gateway.newKey({ permissions: ['ADMIN'], companyIds: [await gateway.newCompany()] }),
    ],
  ];

  test.each(stronger)(
    "an operator's API key with few permissions can neither change nor rotate another API key that has more rights: %s",
    async (_, newStronger) => {
      const key = await newLimited();
      const secret = await newStronger();
      const id = await keys.idOf(secret);
      const before = await keys.auditOf(id);
      for (const refused of [
        await keys.rotate(key, id, 0),
        await keys.update(key, id, { name: 'Mine' }),
        await keys.update(key, id, { permissions: ['ADMIN'], expiresAt: soon }),
      ]) {
        expect(refused).toMatchObject({ code: 'FORBIDDEN', details: { field: 'id' } });
      }
      expect(await keys.statusWith(secret)).toBe(200);
      expect(await keys.auditOf(id)).toEqual(before);
    },
  );
});
