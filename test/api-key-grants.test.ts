import { describe, expect, test } from 'vitest';
import type { Permission } from '../prisma/generated/client/enums.ts';
import { everyPermission, type KeyOptions, newSlug, openTestGateway } from './support/harness.ts';
import { keyOperations } from './support/keys.ts';
import { statementsOf } from './support/statements.ts';

// A key gives away no more than it has.

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ OPERATOR_API_KEY: operator });
const keys = keyOperations(gateway);

const soon = new Date(Date.now() + 3_600_000);
const later = new Date(soon.getTime() + 1000);

/** A company with an ADMIN key that has limits and an end. */
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

/** A key of a company that has as much as the key of `newAdmin`, and more where `options` say so. */
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

describe('a restricted key', () => {
  test.each([
    ['permissions', { permissions: ['WRITE_LOCATIONS'] }],
    ['hourlyLimit', { hourlyLimit: 501 }],
    ['burstLimit', { burstLimit: 51 }],
    ['expiresAt', { expiresAt: later }],
  ])('gives away no more than its own: %s', async (field, more) => {
    const { companyId, admin } = await newAdmin({ expiresAt: soon });
    const refusal = { code: 'FORBIDDEN', details: { field } };
    expect(await keys.create(admin, { companyIds: [companyId], ...more })).toMatchObject(refusal);

    const child = await keys.create(admin, { companyIds: [companyId] });
    expect(await keys.update(admin, child.apiKey.id, more)).toMatchObject(refusal);
  });

  test('gives away as much as it has', async () => {
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

  test('gives its own limits and end to a key for which none were asked', async () => {
    const { companyId, admin } = await newAdmin({ expiresAt: soon });
    const { apiKey } = await keys.create(admin, { companyIds: [companyId] });
    expect(apiKey).toMatchObject({ hourlyLimit: 500, burstLimit: 50, expiresAt: soon.toISOString() });
  });

  test('gives the default limits when its own are higher, and no end when it has none', async () => {
    const { companyId, admin } = await newAdmin({ hourlyLimit: 5000, burstLimit: 500 });
    const { apiKey } = await keys.create(admin, { companyIds: [companyId] });
    expect(apiKey).toMatchObject({ hourlyLimit: 1000, burstLimit: 100, expiresAt: null });
  });

  test('cannot take the end of another key away when it ends itself', async () => {
    const { companyId, admin } = await newAdmin({ expiresAt: soon });
    const { apiKey } = await keys.create(admin, { companyIds: [companyId] });
    expect(await keys.update(admin, apiKey.id, { expiresAt: null })).toMatchObject({
      code: 'FORBIDDEN',
      details: { field: 'expiresAt', value: null },
    });
  });

  test('issues no key without ties', async () => {
    const { admin } = await newAdmin();
    for (const input of [{}, { companyIds: [] }, { companyIds: [], locationIds: [] }]) {
      expect(await keys.create(admin, input)).toMatchObject({
        code: 'FORBIDDEN',
        details: { field: 'companyIds' },
      });
    }
  });

  test('takes no key its last tie', async () => {
    const { companyId, admin } = await newAdmin();
    const { apiKey } = await keys.create(admin, { companyIds: [companyId] });
    expect(await keys.update(admin, apiKey.id, { companyIds: [] })).toMatchObject({
      code: 'FORBIDDEN',
      details: { field: 'companyIds' },
    });
  });

  test("issues no operator's key", async () => {
    const { admin } = await newAdmin();
    expect(await keys.create(admin, { unrestricted: true })).toMatchObject({
      code: 'FORBIDDEN',
      details: { field: 'unrestricted' },
    });
  });

  test('ties no key to what is out of its reach', async () => {
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

  test('that is tied to a location does not give the company of the location', async () => {
    const { companyId, locationId } = await newAdmin();
    const admin = await gateway.newKey({ permissions: ['ADMIN'], locationIds: [locationId] });
    const input = { permissions: ['ADMIN'], companyIds: [companyId] };
    expect(await keys.create(admin, input)).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('a key that has more than its administrator', () => {
  const stronger: [string, (companyId: string) => Promise<KeyOptions> | KeyOptions][] = [
    ['a permission', () => ({ permissions: ['ADMIN', 'WRITE_WHITELIST'] })],
    ['a company', async (companyId) => ({ companyIds: [companyId, (await gateway.newTenant()).companyId] })],
    ['a location', async () => ({ locationIds: [(await gateway.newTenant()).locationId] })],
    ['a higher hourly limit', () => ({ hourlyLimit: 501 })],
    ['a higher burst limit', () => ({ burstLimit: 51 })],
    ['a later end', () => ({ expiresAt: later })],
    ['no end', () => ({})],
  ];

  test.each(stronger)('(%s) cannot be rotated or changed by it, but seen and revoked', async (_, more) => {
    const { companyId, admin } = await newAdmin({ expiresAt: soon });
    const { secret, id } = await newSibling(companyId, await more(companyId));

    for (const refused of [await keys.rotate(admin, id, 0), await keys.update(admin, id, { name: 'Mine' })]) {
      expect(refused).toMatchObject({ code: 'FORBIDDEN', details: { field: 'id' } });
    }
    expect(await keys.statusWith(secret)).toBe(200);
    expect(await keys.auditOf(id)).toEqual([]);

    expect(await keys.list(admin)).toContain(id);
    expect((await keys.revoke(admin, id)).revokedAt).toMatch(/Z$/);
    expect(await keys.statusWith(secret)).toBe(401);
  });

  test('tells its administrator nothing of the other companies and locations', async () => {
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

  test('is out of reach for the administrator of another company', async () => {
    const { companyId } = await newAdmin();
    const { id } = await newSibling(companyId);
    const stranger = await gateway.newTenant();
    const refused = { code: 'NOT_FOUND', details: { field: 'id' } };
    expect(await keys.list(stranger.key)).not.toContain(id);
    expect(await keys.rotate(stranger.key, id)).toMatchObject(refused);
    expect(await keys.revoke(stranger.key, id)).toMatchObject(refused);
    expect(await keys.update(stranger.key, id, { name: 'Mine' })).toMatchObject(refused);
  });
});

test.each(['companyIds', 'locationIds'] as const)(
  'a key tied by %s that registers a company stays in the reach of its administrator',
  async (tie) => {
    const { companyId, locationId } = await newAdmin();
    const ties = tie === 'companyIds' ? { companyIds: [companyId] } : { locationIds: [locationId] };
    const admin = await gateway.newKey({ permissions: ['ADMIN', 'REGISTER_COMPANIES'], ...ties });
    const { secret, apiKey } = await keys.create(admin, { ...ties, permissions: ['REGISTER_COMPANIES'] });
    const body = { name: 'New', slug: newSlug(), address: 'Dubai' };
    expect((await gateway.rest('POST', '/register/company', { key: secret, body })).status).toBe(201);

    expect(await keys.list(admin)).toContain(apiKey.id);
    expect((await keys.revoke(admin, apiKey.id)).revokedAt).toMatch(/Z$/);
    expect(await keys.statusWith(secret)).toBe(401);
  },
);

describe("an operator's key", () => {
  test('issues keys with more than its own limits and without ties', async () => {
    const limits = { hourlyLimit: 10_000_000, burstLimit: 10_000_000 };
    expect((await keys.create(operator, limits)).apiKey).toMatchObject({
      ...limits,
      unrestricted: false,
      companyIds: [],
    });
  });

  test.each([[{}], [{ companyIds: [] }], [{ companyIds: [], locationIds: [], unrestricted: false }]])(
    "issues an operator's key only when asked for one, not by %j",
    async (input) => {
      const { apiKey, secret } = await keys.create(operator, { permissions: everyPermission, ...input });
      expect(apiKey.unrestricted).toBe(false);
      expect(await keys.list(secret)).toEqual([]);
    },
  );

  test("issues an operator's key when asked for one", async () => {
    const { secret, apiKey } = await keys.create(operator, {
      permissions: ['READ_STATUS'],
      unrestricted: true,
    });
    expect(apiKey).toMatchObject({ unrestricted: true, permissions: ['READ_STATUS'] });
    const { locationId } = await gateway.newTenant();
    const status = await gateway.rest('GET', `/locations/${locationId}/status`, { key: secret });
    expect(status.status).toBe(200);
  });

  test('cannot be asked for together with ties', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const refusal = { code: 'VALIDATION_ERROR', details: { field: 'unrestricted' } };
    for (const ties of [{ companyIds: [companyId] }, { locationIds: [locationId] }]) {
      expect(await keys.create(operator, { unrestricted: true, ...ties })).toMatchObject(refusal);
    }
  });

  test('gets no ties later', async () => {
    const { companyId } = await gateway.newTenant();
    const { apiKey } = await keys.create(operator, { unrestricted: true });
    expect(await keys.update(operator, apiKey.id, { companyIds: [companyId] })).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'companyIds' },
    });
  });

  test('is out of the reach of restricted keys', async () => {
    const { admin } = await newAdmin();
    const { apiKey } = await keys.create(operator, { unrestricted: true });
    expect(await keys.revoke(admin, apiKey.id)).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a permission to change something', () => {
  /** What reads an entry, and the permission that guards it. */
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

  test.each(reads)('reads no whitelist entry through %s', async (_, permission, document) => {
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
  });
});

describe('the changes of an audit record', () => {
  test('are shown to keys that may read what changed, and null for others', async () => {
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

  test('are read only when they are asked for, in one statement for a page', async () => {
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
