import { Hono } from 'hono';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Authenticator } from '../../src/auth/authenticator.ts';
import { newSecret } from '../../src/auth/key-secret.ts';
import type { Services } from '../../src/context.ts';
import { canonicalAddress, clientOf } from '../../src/http/guard/client-address.ts';
import { createGuards } from '../../src/http/guard/guard.ts';
import { askAtMostEvery } from '../../src/scheduling/ask-at-most-every.ts';
import type { GatewayEnv } from '../../src/http/request-state.ts';
import { createUnauthenticatedClients } from '../../src/http/guard/unauthenticated-clients.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { newAddress } from '../support/addresses.ts';
import { openTestGateway } from '../support/harness.ts';
import { statementsOf } from '../support/statements.ts';

const gateway = await openTestGateway();
const { prisma } = gateway.database;

/** Returns the header `X-Forwarded-For` with a client address that no other test uses. */
const fromNewAddress = () => ({ 'X-Forwarded-For': newAddress() });

/** The number of requests that a client address may send in one minute without a valid API key. */
const burstOfAddress = 100;

/** Sends requests until the rate limit of a client address has no points left. */
async function spend(headers: Record<string, string>): Promise<void> {
  for (let index = 0; index < burstOfAddress; index += 1) await gateway.rest('GET', '/health', { headers });
}

describe('an unauthenticated client over its rate limit', () => {
  test('an unauthenticated client over its rate limit causes no database queries, even when the client invents many API keys', async () => {
    const headers = fromNewAddress();
    await spend(headers);
    const statuses = new Set<number>();
    const statements = await statementsOf(async () => {
      for (let index = 0; index < 20; index += 1) {
        const key = newSecret('development');
        statuses.add((await gateway.rest('GET', '/health', { key, headers })).status);
        statuses.add((await gateway.graph('{ __typename }', { key, headers })).status);
      }
    });
    expect([...statuses]).toEqual([429]);
    // Five seconds after the gateway has refused a request with an unknown secret, it reads the hashes of the newest
    // API key secrets from the database. The SQL text of this query contains `ORDER BY`, so the test ignores the query.
    // Every request gets its response without waiting for this database query.
    const ofKeys = statements.filter((text) => text.includes('ApiKeySecret') && !text.includes('ORDER BY'));
    expect(ofKeys).toEqual([]);
  });

  test('each concurrent request with an invented API key costs one point of the rate limit of the client address', async () => {
    const headers = fromNewAddress();
    const answers = await Promise.all(
      Array.from({ length: 150 }, () =>
        gateway.rest('GET', '/health', { key: newSecret('development'), headers }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(50);
    for (const { headers: told } of refused) expect(told.get('Retry-After')).toMatch(/^[1-9]\d*$/);
  });

  test('a valid API key works even when other clients at the same address exceed the rate limit of this address', async () => {
    const headers = fromNewAddress();
    const { key } = await gateway.newTenant();
    await gateway.rest('GET', '/health', { key });
    await spend(headers);
    await gateway.database.prisma.$queryRaw`SELECT 1`;
    expect((await gateway.rest('GET', '/health', { key, headers })).status).toBe(200);

    const admin = await gateway.newKey({ unrestricted: true });
    const created = await gateway.graph(
      'mutation { createApiKey(input: { name: "new", permissions: [READ_LOCATIONS], unrestricted: true }) { secret } }',
      { key: admin },
    );
    const { secret } = created.body.data.createApiKey;
    expect((await gateway.rest('GET', '/health', { key: secret, headers })).status).toBe(200);
  });

  test('when many requests with a new API key arrive at the same time, all requests succeed', async () => {
    const headers = fromNewAddress();
    const key = await gateway.newKey();
    const answers = await Promise.all(
      Array.from({ length: 150 }, () => gateway.rest('GET', '/health', { key, headers })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('the metrics count the refused requests of unauthenticated clients, but the gateway stores no usage records of these requests', async () => {
    const headers = fromNewAddress();
    await spend(headers);
    await gateway.rest('GET', '/health', { headers });
    await gateway.rest('GET', '/health', { key: await gateway.newKey() });
    // The gateway stores usage records in the order of the requests. When the usage record of the last request is
    // stored, all usage records of earlier requests are stored, too.
    await expect
      .poll(() => prisma.usageRecord.count({ where: { apiKeyId: { not: null } } }))
      .toBeGreaterThan(0);
    expect(await prisma.usageRecord.count({ where: { apiKeyId: null } })).toBe(0);
    const metrics = await (await gateway.metrics.app.request('/metrics')).text();
    expect(metrics).toMatch(
      /gateway_errors_total\{surface="rest",operation="unknown",code="RATE_LIMIT_EXCEEDED"\} [1-9]/,
    );
  });
});

test('once per minute, and when it stops, the gateway logs in one line how many requests of unauthenticated clients it refused', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: object[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const limiter = createRateLimiter({ windowSeconds: 3600, burstWindowSeconds: 60, redis: undefined, log });
  const { countRefusal, logRefusals } = createUnauthenticatedClients({ limiter, log });
  for (let index = 0; index < 10_000; index += 1)
    countRefusal(index % 10 ? 'UNAUTHORIZED' : 'RATE_LIMIT_EXCEEDED');
  vi.advanceTimersByTime(59_999);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(1);
  const refused = { UNAUTHORIZED: 9_000, RATE_LIMIT_EXCEEDED: 1_000 };
  expect(lines).toMatchObject([{ refused, seconds: 60 }]);
  countRefusal('UNAUTHORIZED');
  vi.advanceTimersByTime(120_000);
  expect(lines).toMatchObject([{ refused }, { refused: { UNAUTHORIZED: 1 } }]);
  logRefusals();
  expect(lines).toHaveLength(2);
  countRefusal('UNAUTHORIZED');
  vi.advanceTimersByTime(5_000);
  logRefusals();
  expect(lines.slice(2)).toMatchObject([{ refused: { UNAUTHORIZED: 1 }, seconds: 5 }]);
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(3);
});

describe('client addresses', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:C000:201', '192.0.2.1'],
    ['192.0.2.1:8443', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['Not-An-Address', 'not-an-address'],
    ['x'.repeat(1000), 'x'.repeat(64)],
  ])('the gateway converts the client address %s to %s', (text, expected) => {
    expect(canonicalAddress(text)).toBe(expected);
  });

  test('all IPv6 addresses of a /64 network count as one client', () => {
    expect(clientOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
    expect(clientOf('2001:db8:1:2::ffff')).toBe('2001:db8:1:2::/64');
    expect(clientOf('2001:db8:1:3::1')).toBe('2001:db8:1:3::/64');
    expect(clientOf('192.0.2.1')).toBe('192.0.2.1');
  });

  test('all addresses of an IPv6 /64 network share one rate limit', async () => {
    let refused = 0;
    const network = newAddress().slice(0, -1);
    for (let index = 0; index < 300; index += 1) {
      const headers = { 'X-Forwarded-For': `${network}${index.toString(16)}` };
      if ((await gateway.rest('GET', '/health', { headers })).status === 429) refused += 1;
    }
    expect(refused).toBe(200);
  });

  test('the client address is the last address in X-Forwarded-For', async () => {
    const address = newAddress();
    const headers = (first: number) => ({ 'X-Forwarded-For': `10.0.0.${first}, ${address}` });
    for (let index = 0; index < burstOfAddress; index += 1)
      await gateway.rest('GET', '/health', { headers: headers(index) });
    expect((await gateway.rest('GET', '/health', { headers: headers(200) })).status).toBe(429);
  });
});

describe('public pages', () => {
  const page = (headers: Record<string, string>) =>
    gateway.app.request('/graphql', { headers: { Accept: 'text/html', ...headers } });

  test('public pages need no API key, and their requests count towards the rate limit of the client address', async () => {
    const headers = fromNewAddress();
    const first = await page(headers);
    expect(first.status).toBe(200);
    expect(first.headers.get('RateLimit-Policy')).toBe('"hour";q=1000;w=3600, "burst";q=100;w=60');
    expect(first.headers.get('X-RateLimit-Remaining')).toBe('999');
    expect((await gateway.rest('GET', '/health', { headers })).headers.get('X-RateLimit-Remaining')).toBe(
      '998',
    );
    await spend(headers);
    const refused = await page(headers);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ success: false, error: { code: 'RATE_LIMIT_EXCEEDED' } });
    expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/);
  });
});

describe('a database failure during authentication', () => {
  const log = pino({ level: 'silent' });
  const limiter = createRateLimiter({ windowSeconds: 3600, burstWindowSeconds: 60, redis: undefined, log });
  const authenticator = {
    cachedKey: () => undefined,
    knownSecretHashes: { has: () => false, add: () => undefined, readSoon: () => undefined },
    authenticate: async () => {
      throw new Error('the database is unreachable');
    },
  } as Partial<Authenticator> as Authenticator;
  const guards = createGuards({
    services: { authenticator } as Partial<Services> as Services,
    limiter,
    usage: { record: () => expect.unreachable(), flush: async () => undefined, close: async () => undefined },
    metrics: createMetrics({ limiter }),
    log,
    trustProxy: true,
  });
  const app = new Hono<GatewayEnv>().use(
    '*',
    guards.ofSurface('rest', () => ({ status: 500, body: '{}', errorCode: 'INTERNAL_ERROR' })),
  );

  test('a request that fails because the database is unreachable costs no rate limit points', async () => {
    const headers = { 'X-API-Key': newSecret('development'), ...fromNewAddress() };
    for (let index = 0; index < 3 * burstOfAddress; index += 1) {
      const answer = await app.request('/', { headers });
      expect(answer.status).toBe(500);
      expect([...answer.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
    }
  });
});

test('all requests to the health endpoints within one interval, such as one second, share one database query', async () => {
  let now = 0;
  let asked = 0;
  const ready = askAtMostEvery(
    1000,
    async () => {
      asked += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return asked;
    },
    () => now,
  );
  expect(await Promise.all(Array.from({ length: 100 }, ready))).toEqual(Array(100).fill(1));
  now = 999;
  expect(await ready()).toBe(1);
  now = 1000;
  expect(await Promise.all([ready(), ready()])).toEqual([2, 2]);
  expect(asked).toBe(2);
});
