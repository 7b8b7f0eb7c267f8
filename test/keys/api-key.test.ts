import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { isWellFormedSecret, newSecret } from '../../src/auth/key-secret.ts';
import { everyPermission, newSlug, openTestGateway } from '../support/harness.ts';
import { keyOperations } from '../support/keys.ts';

const gateway = await openTestGateway({ OPERATOR_API_KEY: 'operator-key-of-the-tests-0123456789' });
const operator = gateway.config.operatorApiKey!;

const keys = keyOperations(gateway);

describe('secrets of API keys', () => {
  test('the secret of an API key has a prefix for its environment and a checksum that detects one typing error', () => {
    expect(newSecret('production')).toMatch(/^pms_live_[0-9A-Za-z]{49}$/);
    expect(newSecret('staging')).toMatch(/^pms_test_[0-9A-Za-z]{49}$/);
    fc.assert(
      fc.property(fc.nat(57), fc.stringMatching(/^[0-9A-Za-z]$/), (position, character) => {
        const secret = newSecret('development');
        const mistyped = secret.slice(0, position) + character + secret.slice(position + 1);
        expect(isWellFormedSecret(mistyped)).toBe(mistyped === secret);
      }),
    );
  });
});

describe('the API key from the variable OPERATOR_API_KEY', () => {
  test('the API key from the variable OPERATOR_API_KEY still has access to all data after the API key has registered a company', async () => {
    const { locationId } = await gateway.newTenant();
    expect((await gateway.rest('GET', `/locations/${locationId}/whitelist`, { key: operator })).status).toBe(
      200,
    );
    const body = { name: 'Operator', slug: newSlug(), address: 'Dubai' };
    expect((await gateway.rest('POST', '/register/company', { key: operator, body })).status).toBe(201);
    expect((await gateway.rest('GET', `/locations/${locationId}/whitelist`, { key: operator })).status).toBe(
      200,
    );
  });
});

describe('issuing an API key', () => {
  test('a new API key has the requested scope, permissions and rate limits, and the database does not contain its secret', async () => {
    const { locationId } = await gateway.newTenant();
    const { secret, apiKey } = await keys.create(operator, {
      permissions: ['READ_LOCATIONS', 'READ_WHITELIST'],
      locationIds: [locationId],
      hourlyLimit: 7,
    });
    expect(apiKey).toMatchObject({
      permissions: ['READ_LOCATIONS', 'READ_WHITELIST'],
      companyIds: [],
      locationIds: [locationId],
      unrestricted: false,
      hourlyLimit: 7,
      burstLimit: 100,
    });
    const answer = await gateway.graph('{ viewer { id name lastUsedAt } companies { nodes { id } } }', {
      key: secret,
    });
    expect(answer.body.errors[0].extensions.code).toBe('FORBIDDEN');
    const viewer = await gateway.graph('{ viewer { id } }', { key: secret });
    expect(viewer.body.data.viewer.id).toBe(apiKey.id);
    expect(viewer.headers.get('X-RateLimit-Limit')).toBe('7');
    const stored = await gateway.database.prisma.apiKeySecret.findMany({ where: { apiKeyId: apiKey.id } });
    expect(JSON.stringify([stored, await keys.auditOf(apiKey.id)])).not.toContain(secret);
  });

  test('the clock of the database decides whether an API key has expired, and a new API key cannot have an expiry in the past', async () => {
    expect(await keys.create(operator, { expiresAt: '2020-01-01T00:00:00Z' })).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'expiresAt' },
    });
    const minute = 60_000;
    const [soon, past] = [minute, -minute].map((change) => new Date(Date.now() + change)) as [Date, Date];
    const [valid, ended] = [
      await gateway.newKey({ expiresAt: soon }),
      await gateway.newKey({ expiresAt: past }),
    ];
    // The test sets a wrong process clock only with PostgreSQL, because an embedded database uses the clock of the
    // gateway process.
    const wrongMinutes = gateway.database.kind === 'embedded' ? [0] : [-60, 60];
    for (const wrong of wrongMinutes) {
      vi.useFakeTimers({ now: Date.now() + wrong * minute, toFake: ['Date'] });
      try {
        expect([await keys.statusWith(valid), await keys.statusWith(ended)]).toEqual([200, 401]);
      } finally {
        vi.useRealTimers();
      }
    }
  });
});

describe('API keys that were issued for another environment, such as staging', () => {
  test('an API key that was issued for another environment, such as staging, is refused', async () => {
    expect(await keys.statusWith(await gateway.newKey({ environment: 'staging' }))).toBe(401);
  });
});

describe('rotating an API key', () => {
  test('the old secret of a rotated API key works during the grace period, and both secrets share one rate limit', async () => {
    const { secret, apiKey } = await keys.create(operator, { hourlyLimit: 50 });
    const first = await gateway.rest('GET', '/health', { key: secret });
    const rotated = await keys.rotate(operator, apiKey.id, 600);
    expect(rotated.apiKey.id).toBe(apiKey.id);
    expect(await keys.statusWith(secret)).toBe(200);
    const after = await gateway.rest('GET', '/health', { key: rotated.secret });
    expect(
      Number(first.headers.get('X-RateLimit-Remaining')) - Number(after.headers.get('X-RateLimit-Remaining')),
    ).toBe(2);
  });

  test('the old secret of an API key is invalid at once when the rotation has no grace period', async () => {
    const { secret, apiKey } = await keys.create(operator);
    expect(await keys.statusWith(secret)).toBe(200);
    const rotated = await keys.rotate(operator, apiKey.id, 0);
    expect(await keys.statusWith(secret)).toBe(401);
    expect(await keys.statusWith(rotated.secret)).toBe(200);
  });

  test('an API key can request its own rotation', async () => {
    const { companyId } = await gateway.newTenant();
    const secret = await gateway.newKey({ permissions: ['ADMIN'], companyIds: [companyId] });
    const rotated = await keys.rotate(secret, await keys.idOf(secret), 0);
    expect(await keys.statusWith(secret)).toBe(401);
    expect(await keys.statusWith(rotated.secret)).toBe(200);
  });

  test('after concurrent rotations of an API key, exactly one secret stays valid, and each rotation has an audit record', async () => {
    const { apiKey } = await keys.create(operator);
    const rotations = await Promise.all(Array.from({ length: 5 }, () => keys.rotate(operator, apiKey.id, 0)));
    const statuses = await Promise.all(rotations.map(({ secret }) => keys.statusWith(secret)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const actions = (await keys.auditOf(apiKey.id)).map(({ action }) => action);
    expect(actions).toEqual(['api_key.created', ...Array<string>(5).fill('api_key.rotated')]);
  });

  test('a revoked API key cannot be rotated', async () => {
    const { apiKey } = await keys.create(operator);
    await keys.revoke(operator, apiKey.id);
    expect(await keys.rotate(operator, apiKey.id)).toMatchObject({ code: 'CONFLICT' });
    expect(await keys.update(operator, apiKey.id, { name: 'Late' })).toMatchObject({ code: 'CONFLICT' });
  });
});

describe('changing an API key', () => {
  test('updateApiKey changes only the fields in its input, and the audit record contains the old and the new values', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const { apiKey } = await keys.create(operator, { locationIds: [locationId] });
    const before = {
      name: 'Gate',
      permissions: ['READ_LOCATIONS'],
      unrestricted: false,
      companyIds: [],
      locationIds: [locationId],
      hourlyLimit: 1000,
      burstLimit: 100,
      expiresAt: null,
    };
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const steps: Record<string, unknown>[] = [
      { name: 'Barrier' },
      { permissions: ['READ_LOCATIONS', 'READ_STATUS'] },
      { companyIds: [companyId], locationIds: [] },
      { hourlyLimit: 10, burstLimit: 5 },
      { expiresAt },
      { expiresAt: null },
    ];
    let current = before;
    for (const step of steps) {
      const after = { ...current, ...step };
      expect(await keys.update(operator, apiKey.id, step)).toMatchObject(after);
      expect((await keys.auditOf(apiKey.id)).at(-1)).toMatchObject({
        action: 'api_key.updated',
        changes: { before: current, after },
      });
      current = after;
    }
  });

  test('a change of an API key applies to the next request of the API key', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const { secret, apiKey } = await keys.create(operator, { companyIds: [companyId] });
    const read = async () => (await gateway.rest('GET', '/locations', { key: secret })).status;
    expect(await read()).toBe(200);
    await keys.update(operator, apiKey.id, { permissions: ['READ_WHITELIST'] });
    expect(await read()).toBe(403);
    const whitelist = async () =>
      (await gateway.rest('GET', `/locations/${locationId}/whitelist`, { key: secret })).status;
    expect(await whitelist()).toBe(200);
    await keys.update(operator, apiKey.id, { companyIds: [] });
    expect(await whitelist()).toBe(404);
    await keys.update(operator, apiKey.id, { hourlyLimit: 7 });
    const { headers } = await gateway.rest('GET', '/health', { key: secret });
    expect(headers.get('X-RateLimit-Limit')).toBe('7');
  });

  test('when an update contains only the current values of an API key, the gateway writes no audit record', async () => {
    const { apiKey } = await keys.create(operator);
    const same = { name: 'Gate', permissions: ['READ_LOCATIONS', 'READ_LOCATIONS'], companyIds: [] };
    expect(await keys.update(operator, apiKey.id, same)).toMatchObject({ name: 'Gate' });
    expect(await keys.auditOf(apiKey.id)).toHaveLength(1);
  });

  test.each([
    [{}, 'input'],
    [{ name: null, permissions: null }, 'input'],
    [{ name: ' ' }, 'name'],
    [{ permissions: [] }, 'permissions'],
    [{ hourlyLimit: 0 }, 'hourlyLimit'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
  ])('the gateway refuses to update an API key with the input %j', async (input, field) => {
    const { apiKey } = await keys.create(operator);
    const refused = await keys.update(operator, apiKey.id, input);
    expect(refused.code).toBe('VALIDATION_ERROR');
    expect(refused.details?.field).toBe(field);
  });
});

describe('revoking an API key', () => {
  test('the gateway refuses the next request of a revoked API key', async () => {
    const { secret, apiKey } = await keys.create(operator);
    expect(await keys.statusWith(secret)).toBe(200);
    expect((await keys.revoke(operator, apiKey.id)).revokedAt).toMatch(/Z$/);
    expect(await keys.statusWith(secret)).toBe(401);
  });

  test('revoking an API key a second time changes nothing', async () => {
    const { apiKey } = await keys.create(operator);
    await keys.revoke(operator, apiKey.id);
    const stored = () => gateway.database.prisma.apiKey.findUniqueOrThrow({ where: { id: apiKey.id } });
    const revoked = await stored();
    await keys.revoke(operator, apiKey.id);
    expect(await stored()).toEqual(revoked);
    expect(await keys.auditOf(apiKey.id)).toHaveLength(2);
  });

  test('concurrent revocations of one API key all succeed, and the gateway writes only one audit record of the revocation', async () => {
    const { apiKey } = await keys.create(operator);
    const answers = await Promise.all(Array.from({ length: 8 }, () => keys.revoke(operator, apiKey.id)));
    expect(new Set(answers.map(({ revokedAt }) => revokedAt)).size).toBe(1);
    const actions = (await keys.auditOf(apiKey.id)).map(({ action }) => action);
    expect(actions).toEqual(['api_key.created', 'api_key.revoked']);
  });

  test('when an API key is rotated and revoked at the same time, the new secret does not work', async () => {
    const { apiKey } = await keys.create(operator);
    const [rotated] = await Promise.all([keys.rotate(operator, apiKey.id), keys.revoke(operator, apiKey.id)]);
    if (rotated.secret) expect(await keys.statusWith(rotated.secret)).toBe(401);
    else expect(rotated.code).toBe('CONFLICT');
  });
});

describe('usage records of an API key', () => {
  test('the usage record of a request contains its API key, operation, status and request id, but never the secret', async () => {
    const key = await gateway.newKey({ permissions: everyPermission });
    const answers = [
      await gateway.rest('GET', '/companies', { key }),
      await gateway.graph('query Any { a: health { status } }', { key }),
    ];
    const where = { requestId: { in: answers.map(({ headers }) => headers.get('X-Request-Id')!) } };
    const { usageRecord } = gateway.database.prisma;
    await expect.poll(() => usageRecord.count({ where })).toBe(2);
    const viewer = await gateway.graph('{ viewer { id lastUsedAt } }', { key });
    const apiKeyId = viewer.body.data.viewer.id;
    const records = await usageRecord.findMany({ where, omit: { id: true }, orderBy: { id: 'asc' } });
    expect(records).toMatchObject([
      { apiKeyId, surface: 'rest', operation: 'GET /companies', status: 200 },
      { apiKeyId, surface: 'graphql', operation: 'query health', status: 200 },
    ]);
    expect(viewer.body.data.viewer.lastUsedAt).toMatch(/Z$/);
    expect(JSON.stringify(records)).not.toContain(key);
  });
});
