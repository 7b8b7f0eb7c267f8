import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWellFormedSecret, newSecret } from '../src/api-key-format.ts';
import { everyPermission, newSlug, openTestGateway } from './harness.ts';

const gateway = await openTestGateway({ OPERATOR_API_KEY: 'operator-key-of-the-tests-0123456789' });
const operator = gateway.config.operatorApiKey!;

const issued =
  'secret apiKey { id name permissions companyIds locationIds unrestricted hourlyLimit burstLimit }';

async function createApiKey(input: Record<string, unknown>, key = operator) {
  const { body } = await gateway.graph(
    `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { ${issued} } }`,
    { key, variables: { input: { name: 'Gate', permissions: ['READ_LOCATIONS'], ...input } } },
  );
  return { ...body.data?.createApiKey, error: body.errors?.[0] };
}

const statusWith = async (key: string) => (await gateway.rest('GET', '/health', { key })).status;

describe('a secret', () => {
  test('tells its environment, and is refused after any typing error', () => {
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

describe('the key of OPERATOR_API_KEY', () => {
  test('reaches everything, and registering a company does not change that', async () => {
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

describe('issuing a key', () => {
  test('gives it the scope, permissions and limits that were asked for, and stores no secret', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const { secret, apiKey } = await createApiKey({
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
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect(companyId).toBeTruthy();
  });

  test('gives away no more than the issuing key has', async () => {
    const mine = await gateway.newTenant();
    const theirs = await gateway.newTenant();
    const admin = await gateway.newKey({
      companyIds: [mine.companyId],
      permissions: ['ADMIN', 'READ_LOCATIONS'],
    });
    const attempts = [
      [{ companyIds: [theirs.companyId] }, 'FORBIDDEN'],
      [{ locationIds: [theirs.locationId] }, 'NOT_FOUND'],
      [{ permissions: ['WRITE_LOCATIONS'] }, 'FORBIDDEN'],
    ] as const;
    for (const [input, code] of attempts) {
      expect((await createApiKey(input, admin)).error.extensions.code).toBe(code);
    }
    const granted = await createApiKey({ permissions: ['ADMIN'], locationIds: [mine.locationId] }, admin);
    expect(granted.apiKey).toMatchObject({ unrestricted: false, locationIds: [mine.locationId] });
    const { body } = await gateway.graph('{ apiKeys { nodes { id } } }', { key: granted.secret });
    expect(body.data.apiKeys.nodes).toEqual([{ id: granted.apiKey.id }]);
  });

  test('refuses an expiry in the past, and ends the key at its expiry', async () => {
    expect((await createApiKey({ expiresAt: '2020-01-01T00:00:00Z' })).error.extensions).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'expiresAt' },
    });
    const key = await gateway.newKey({ expiresAt: new Date(Date.now() + 400) });
    expect(await statusWith(key)).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await statusWith(key)).toBe(401);
  });
});

describe('a key of another environment', () => {
  test('is invalid', async () => {
    expect(await statusWith(await gateway.newKey({ environment: 'staging' }))).toBe(401);
  });
});

describe('rotating a key', () => {
  const rotate = async (id: string, graceSeconds: number, key = operator) =>
    (
      await gateway.graph(
        `mutation ($id: ID!, $grace: Int) { rotateApiKey(id: $id, graceSeconds: $grace) { ${issued} } }`,
        { key, variables: { id, grace: graceSeconds } },
      )
    ).body;

  test('keeps the old secret alive for the grace period, with one budget for both', async () => {
    const { secret, apiKey } = await createApiKey({ hourlyLimit: 50 });
    const first = await gateway.rest('GET', '/health', { key: secret });
    const rotated = (await rotate(apiKey.id, 600)).data.rotateApiKey;
    expect(rotated.apiKey.id).toBe(apiKey.id);
    expect(await statusWith(secret)).toBe(200);
    const after = await gateway.rest('GET', '/health', { key: rotated.secret });
    expect(
      Number(first.headers.get('X-RateLimit-Remaining')) - Number(after.headers.get('X-RateLimit-Remaining')),
    ).toBe(2);
  });

  test('without grace ends the old secret at once', async () => {
    const { secret, apiKey } = await createApiKey({});
    expect(await statusWith(secret)).toBe(200);
    const rotated = (await rotate(apiKey.id, 0)).data.rotateApiKey;
    expect(await statusWith(secret)).toBe(401);
    expect(await statusWith(rotated.secret)).toBe(200);
  });

  test('is not possible for a key out of reach', async () => {
    const { apiKey } = await createApiKey({});
    const stranger = await gateway.newTenant();
    expect((await rotate(apiKey.id, 0, stranger.key)).errors[0].extensions.code).toBe('NOT_FOUND');
  });
});

describe('revoking a key', () => {
  test('takes effect at once', async () => {
    const { secret, apiKey } = await createApiKey({});
    expect(await statusWith(secret)).toBe(200);
    const { body } = await gateway.graph(`mutation { revokeApiKey(id: "${apiKey.id}") { revokedAt } }`, {
      key: operator,
    });
    expect(body.data.revokeApiKey.revokedAt).toMatch(/Z$/);
    expect(await statusWith(secret)).toBe(401);
  });
});

describe('every use of a key', () => {
  test('leaves a record with key, surface, operation, status and request id, and never the key', async () => {
    const key = await gateway.newKey({ permissions: everyPermission });
    const answer = await gateway.rest('GET', '/companies', { key });
    await gateway.graph('query Any { a: health { status } }', { key });
    await expect
      .poll(
        () =>
          gateway.database.prisma.usageRecord.count({
            where: { requestId: answer.headers.get('X-Request-Id')! },
          }),
        {
          timeout: 5000,
        },
      )
      .toBe(1);
    const viewer = await gateway.graph('{ viewer { id lastUsedAt } }', { key });
    const records = await gateway.database.prisma.usageRecord.findMany({
      where: { apiKeyId: viewer.body.data.viewer.id },
      omit: { id: true },
      orderBy: { id: 'asc' },
    });
    expect(records).toMatchObject([
      { surface: 'rest', operation: 'GET /companies', status: 200 },
      { surface: 'graphql', operation: 'query health', status: 200 },
    ]);
    expect(viewer.body.data.viewer.lastUsedAt).toMatch(/Z$/);
    expect(JSON.stringify(records)).not.toContain(key);
  });
});
