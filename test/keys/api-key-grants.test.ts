import { describe, expect, test } from 'vitest';
import type { Permission } from '../../prisma/generated/client/enums.ts';
import { type KeyOptions, newSlug, sharedTestGateway } from '../support/harness.ts';
import { keyOperations } from '../support/keys.ts';
import { statementsOf } from '../support/statements.ts';

// These tests check that an API key cannot grant more rights than the key itself has.

const gateway = await sharedTestGateway();
const keys = keyOperations(gateway);

const soon = new Date(Date.now() + 3_600_000);
const later = new Date(soon.getTime() + 1000);

/** Creates a company, a location and an API key of the company with the permission ADMIN. */
async function newAdmin(options: KeyOptions = {}) {
  const { companyId, locationId } = await gateway.newTenant();
  const admin = await gateway.newKey({
    permissions: ['ADMIN', 'READ_LOCATIONS', 'REGISTER_COMPANIES'],
    companyIds: [companyId],
    hourlyLimit: 500,
    burstLimit: 50,
    ...options,
  });
  return { companyId, locationId, admin };
}

/**
 * Creates a second API key for a company, with the same rate limits as the company's first API key, which `newAdmin`
 * creates. The fields in `options` replace the default permissions, rate limits or scope of the new API key.
 */
async function newSibling(companyId: string, options: KeyOptions = {}) {
  const secret = await gateway.newKey({
    permissions: ['ADMIN', 'READ_LOCATIONS'],
    companyIds: [companyId],
    hourlyLimit: 500,
    burstLimit: 50,
    ...options,
  });
  return { secret, id: await keys.idOf(secret) };
}

describe('what a restricted API key can grant to other API keys', () => {
  test.each([
    ['permissions', { permissions: ['WRITE_LOCATIONS'] }],
    ['hourlyLimit', { hourlyLimit: 501 }],
    ['burstLimit', { burstLimit: 51 }],
    ['expiresAt', { expiresAt: later }],
  ])('a restricted API key cannot grant more rights than the key itself has: %s', async (field, more) => {
    const { companyId, admin } = await newAdmin({ expiresAt: soon });
    const refusal = { code: 'FORBIDDEN', details: { field } };
    expect(await keys.create(admin, { companyIds: [companyId], ...more })).toMatchObject(refusal);

    const child = await keys.create(admin, { companyIds: [companyId] });
    expect(await keys.update(admin, child.apiKey.id, more)).toMatchObject(refusal);
  });

  test('a restricted API key can issue an API key with equal permissions, scope, rate limits and expiry', async () => {
    const { companyId, admin } = await newAdmin({ expiresAt: soon });
    const all = {
      permissions: ['ADMIN', 'READ_LOCATIONS'],
      companyIds: [companyId],
      hourlyLimit: 500,
      burstLimit: 50,
      expiresAt: soon.toISOString(),
    };
    const { apiKey } = await keys.create(admin, all);
    expect(apiKey).toMatchObject(all);
    expect(await keys.update(admin, apiKey.id, { ...all, name: 'Same' })).toMatchObject(all);
  });

  test('by default, a new API key has the same expiry time as the API key that issues it, and no higher rate limits than the issuing key', async () => {
    const { companyId, admin } = await newAdmin({ expiresAt: soon });
    const { apiKey } = await keys.create(admin, { companyIds: [companyId] });
    expect(apiKey).toMatchObject({ hourlyLimit: 500, burstLimit: 50, expiresAt: soon.toISOString() });
  });

  test('a new API key gets the default rate limits, even when the API key that issues it has higher rate limits', async () => {
    const { companyId, admin } = await newAdmin({ hourlyLimit: 5000, burstLimit: 500 });
    const { apiKey } = await keys.create(admin, { companyIds: [companyId] });
    expect(apiKey).toMatchObject({ hourlyLimit: 1000, burstLimit: 100, expiresAt: null });
  });

  test('an API key with an expiry cannot remove the expiry of another API key', async () => {
    const { companyId, admin } = await newAdmin({ expiresAt: soon });
    const { apiKey } = await keys.create(admin, { companyIds: [companyId] });
    expect(await keys.update(admin, apiKey.id, { expiresAt: null })).toMatchObject({
      code: 'FORBIDDEN',
      details: { field: 'expiresAt', value: null },
    });
  });

  test('a restricted API key can issue another API key only if the scope of the new key contains at least one company or location', async () => {
    const { admin } = await newAdmin();
    for (const input of [{}, { companyIds: [] }, { companyIds: [], locationIds: [] }]) {
      expect(await keys.create(admin, input)).toMatchObject({
        code: 'FORBIDDEN',
        details: { field: 'companyIds' },
      });
    }
  });

  test('a restricted API key cannot remove the last company from the scope of another API key', async () => {
    const { companyId, admin } = await newAdmin();
    const { apiKey } = await keys.create(admin, { companyIds: [companyId] });
    expect(await keys.update(admin, apiKey.id, { companyIds: [] })).toMatchObject({
      code: 'FORBIDDEN',
      details: { field: 'companyIds' },
    });
  });

  test("a restricted API key cannot issue an operator's API key", async () => {
    const { admin } = await newAdmin();
    expect(await keys.create(admin, { unrestricted: true })).toMatchObject({
      code: 'FORBIDDEN',
      details: { field: 'unrestricted' },
    });
  });

  test('a restricted API key cannot grant access to companies or locations outside its scope', async () => {
    const { companyId, admin } = await newAdmin();
    const theirs = await gateway.newTenant();
    const attempts = [
      [{ companyIds: [theirs.companyId] }, 'FORBIDDEN'],
      [{ companyIds: [companyId], locationIds: [theirs.locationId] }, 'NOT_FOUND'],
    ] as const;
    const { apiKey } = await keys.create(admin, { companyIds: [companyId] });
    for (const [input, code] of attempts) {
      expect(await keys.create(admin, input)).toMatchObject({ code });
      expect(await keys.update(admin, apiKey.id, input)).toMatchObject({ code });
    }
  });

  test('an API key that is limited to a location cannot grant access to the company of the location', async () => {
    const { companyId, locationId } = await newAdmin();
    const admin = await gateway.newKey({ permissions: ['ADMIN'], locationIds: [locationId] });
    const input = { permissions: ['ADMIN'], companyIds: [companyId] };
    expect(await keys.create(admin, input)).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('API keys that may do more than their administrator', () => {
  const stronger: [string, (companyId: string) => Promise<KeyOptions> | KeyOptions][] = [
    ['a permission', () => ({ permissions: ['ADMIN', 'WRITE_WHITELIST'] })],
    ['a company', async (companyId) => ({ companyIds: [companyId, (await gateway.newTenant()).companyId] })],
    ['a location', async () => ({ locationIds: [(await gateway.newTenant()).locationId] })],
    ['a higher hourly limit', () => ({ hourlyLimit: 501 })],
    ['a higher burst limit', () => ({ burstLimit: 51 })],
    ['a later expiry', () => ({ expiresAt: later })],
    ['no expiry', () => ({})],
  ];

  test.each(stronger)(
    'an administrator can revoke, but cannot change or rotate, an API key that has more rights than the administrator: the API key has %s',
    async (_, more) => {
      const { companyId, admin } = await newAdmin({ expiresAt: soon });
      const { secret, id } = await newSibling(companyId, await more(companyId));

      for (const refused of [
        await keys.rotate(admin, id, 0),
        await keys.update(admin, id, { name: 'Mine' }),
      ]) {
        expect(refused).toMatchObject({ code: 'FORBIDDEN', details: { field: 'id' } });
      }
      expect(await keys.statusWith(secret)).toBe(200);
      expect(await keys.auditOf(id)).toEqual([]);

      expect(await keys.list(admin)).toContain(id);
      expect((await keys.revoke(admin, id)).revokedAt).toMatch(/Z$/);
      expect(await keys.statusWith(secret)).toBe(401);
    },
  );

  test('when an administrator reads another API key, the response contains no companies or locations outside the scope of the API key of the administrator', async () => {
    const { companyId, admin } = await newAdmin();
    const theirs = await gateway.newTenant();
    const { id } = await newSibling(companyId, {
      companyIds: [companyId, theirs.companyId],
      locationIds: [theirs.locationId],
    });
    const { body } = await gateway.graph(`{ apiKey(id: "${id}") { companyIds locationIds } }`, {
      key: admin,
    });
    expect(body.data.apiKey).toEqual({ companyIds: [companyId], locationIds: [] });
  });

  test('an API key is hidden from administrators of other companies', async () => {
    const { companyId } = await newAdmin();
    const { id } = await newSibling(companyId);
    const outsider = await gateway.newTenant();
    const refused = { code: 'NOT_FOUND', details: { field: 'id' } };
    expect(await keys.list(outsider.key)).not.toContain(id);
    expect(await keys.rotate(outsider.key, id)).toMatchObject(refused);
    expect(await keys.revoke(outsider.key, id)).toMatchObject(refused);
    expect(await keys.update(outsider.key, id, { name: 'Mine' })).toMatchObject(refused);
  });
});

test.each(['companyIds', 'locationIds'] as const)(
  'an administrator can still manage an API key that has registered a company (scope of the key: %s)',
  async (scopeField) => {
    const { companyId, locationId } = await newAdmin();
    const scope = scopeField === 'companyIds' ? { companyIds: [companyId] } : { locationIds: [locationId] };
    const admin = await gateway.newKey({ permissions: ['ADMIN', 'REGISTER_COMPANIES'], ...scope });
    const { secret, apiKey } = await keys.create(admin, { ...scope, permissions: ['REGISTER_COMPANIES'] });
    const body = { name: 'New', slug: newSlug(), address: 'Dubai' };
    expect((await gateway.rest('POST', '/register/company', { key: secret, body })).status).toBe(201);

    expect(await keys.list(admin)).toContain(apiKey.id);
    expect((await keys.revoke(admin, apiKey.id)).revokedAt).toMatch(/Z$/);
    expect(await keys.statusWith(secret)).toBe(401);
  },
);

describe('API keys with a write permission and without the read permission', () => {
  /** GraphQL mutations whose results contain a whitelist entry, each with the permission that the mutation needs. */
  const reads: [string, Permission, (locationId: string) => string][] = [
    [
      "an import's rows",
      'WRITE_WHITELIST',
      (locationId) =>
        `mutation { importWhitelistEntries(locationId: "${locationId}", entries: [{ referenceId: "a", plateType: "DXB", plateCode: "A", plateNumber: "7" }]) { rows { entry { referenceId } } } }`,
    ],
    [
      'a recorded event',
      'WRITE_ACTIVITY',
      (locationId) =>
        `mutation { recordParkingEvent(locationId: "${locationId}", input: { eventId: "1", kind: ENTRY, plate: { plateType: "DXB", plateCode: "A", plateNumber: "7" }, occurredAt: "2026-01-31T08:00:00Z" }) { entry { referenceId } } }`,
    ],
  ];

  test.each(reads)(
    'an API key without the permission READ_WHITELIST cannot read a whitelist entry through %s',
    async (_, permission, document) => {
      const { companyId, locationId } = await gateway.newTenant();
      const writer = await gateway.newKey({ permissions: [permission], companyIds: [companyId] });
      const { body } = await gateway.graph(document(locationId), { key: writer });
      expect(body.errors[0]).toMatchObject({
        message: 'API key lacks the permission READ_WHITELIST',
        extensions: { code: 'FORBIDDEN' },
      });
      const reader = await gateway.newKey({
        permissions: [permission, 'READ_WHITELIST'],
        companyIds: [companyId],
      });
      expect((await gateway.graph(document(locationId), { key: reader })).body.errors).toBeUndefined();
    },
  );
});

describe('the field `changes` of an audit record', () => {
  test('the field `changes` of an audit record is null for an API key that may not read the changed object', async () => {
    const { companyId, locationId, key } = await gateway.newTenant();
    await gateway.graph(
      `mutation {
        createWhitelistEntry(locationId: "${locationId}", input: { referenceId: "secret-7", plateType: "DXB", plateCode: "A", plateNumber: "7" }) { id }
        updateLocation(id: "${locationId}", input: { name: "Renamed" }) { id }
        recordParkingEvent(locationId: "${locationId}", input: { eventId: "1", kind: ENTRY, plate: { plateType: "DXB", plateCode: "A", plateNumber: "7" }, occurredAt: "2026-01-31T08:00:00Z" }) { id }
      }`,
      { key },
    );
    const expected = [
      ['parking.entered', 'READ_ACTIVITY'],
      ['location.updated', 'READ_LOCATIONS'],
      ['whitelist.created', 'READ_WHITELIST'],
    ] as const;
    for (const [, permission] of expected) {
      const auditor = await gateway.newKey({ permissions: ['ADMIN', permission], companyIds: [companyId] });
      const { body } = await gateway.graph('{ auditLog { nodes { action changes } } }', { key: auditor });
      const shown = body.data.auditLog.nodes.map(
        ({ action, changes }: { action: string; changes: unknown }) => [action, changes !== null],
      );
      expect(shown).toEqual(expected.map(([action, readBy]) => [action, readBy === permission]));
    }
  });

  test('the gateway reads the field `changes` of audit records from the database only when a query selects the field', async () => {
    const { companyId, locationId, key } = await gateway.newTenant();
    for (const name of ['One', 'Two', 'Three']) {
      await gateway.rest('PUT', `/locations/${locationId}`, { key, body: { name } });
    }
    const auditor = await gateway.newKey({
      permissions: ['ADMIN', 'READ_LOCATIONS'],
      companyIds: [companyId],
    });
    const readsOfChanges = async (fields: string) => {
      const query = `{ auditLog { nodes { ${fields} } } }`;
      const statements = await statementsOf(() => gateway.graph(query, { key: auditor }));
      return statements.filter((statement) => statement.includes('"changes"'));
    };
    expect(await readsOfChanges('id action')).toEqual([]);
    expect(await readsOfChanges('id changes')).toHaveLength(1);
  });
});
