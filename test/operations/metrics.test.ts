import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newId } from '../../src/ids.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { readBacklog } from '../../src/webhooks/backlog.ts';
import { newEntry, openTestGateway } from '../support/harness.ts';
import { statementsOf } from '../support/statements.ts';
import { testServerUrl } from '../support/scratch-database.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const withoutRedis = await openTestGateway({ REDIS_URL: 'redis://127.0.0.1:1' });
const { newSubscriber, addEntry } = webhookTools(gateway);

const metricsOf = async ({ metrics }: Pick<typeof gateway, 'metrics'>) =>
  (await metrics.app.request('/metrics')).text();

/** Returns the value of a metric series, or 0 when the series does not exist. */
async function valueOf(series: string, of: Pick<typeof gateway, 'metrics'> = gateway): Promise<number> {
  const line = (await metricsOf(of)).split('\n').find((text) => text.startsWith(`${series} `));
  return line ? Number(line.slice(series.length + 1)) : 0;
}

/** Runs an action, and returns by how much the value of a metric increased. */
async function growthOf(series: string, act: () => Promise<unknown>): Promise<number> {
  const before = await valueOf(series);
  await act();
  return (await valueOf(series)) - before;
}

test.each([
  ['rest', 'GET /health', '200', (key: string) => gateway.rest('GET', '/health', { key })],
  ['rest', 'unknown', '401', () => gateway.rest('GET', '/health')],
  ['rest', 'other', '405', (key: string) => gateway.rest('PATCH', '/health', { key })],
  ['graphql', 'query health', '200', (key: string) => gateway.graph('{ health { status } }', { key })],
  ['graphql', 'other', '200', (key: string) => gateway.graph('{ health { status } viewer { id } }', { key })],
])('the metrics count a request and its duration: %s, %s, %s', async (surface, operation, status, ask) => {
  const key = await gateway.newKey();
  const labels = `surface="${surface}",operation="${operation}"`;
  const timed = growthOf(`gateway_request_duration_seconds_count{${labels}}`, () => ask(key));
  expect(await timed).toBe(1);
  expect(await growthOf(`gateway_requests_total{${labels},status="${status}"}`, () => ask(key))).toBe(1);
});

type Ask = (key: string) => Promise<unknown>;
const askHealth: Record<string, Ask> = {
  rest: (key) => gateway.rest('GET', '/health', { key }),
  graphql: (key) => gateway.graph('{ health { status } }', { key }),
};
const askCompanies: Record<string, Ask> = {
  rest: (key) => gateway.rest('GET', '/companies', { key }),
  graphql: (key) => gateway.graph('{ companies { nodes { id } } }', { key }),
};

describe.each(['rest', 'graphql'])(
  'the metric gateway_refusals_total counts refused requests by reason: %s',
  (surface) => {
    const refused = (reason: string, act: () => Promise<unknown>) =>
      growthOf(`gateway_refusals_total{surface="${surface}",reason="${reason}"}`, act);

    test('the metrics count requests that are refused because they have no valid API key', async () => {
      expect(await refused('no_valid_key', () => askHealth[surface]!('no key'))).toBe(1);
    });

    test('the metrics count requests that are refused because the API key lacks a permission', async () => {
      const key = await gateway.newKey({ permissions: ['READ_STATUS'] });
      expect(await refused('no_permission', () => askCompanies[surface]!(key))).toBe(1);
    });

    test('the metrics count requests that are refused because of the rate limit of the API key', async () => {
      const key = await gateway.newKey({ burstLimit: 1 });
      await askHealth[surface]!(key);
      expect(await refused('limit_of_key', () => askHealth[surface]!(key))).toBe(1);
    });
  },
);

test('the metrics count an error when the database fails in the middle of a streamed list', async () => {
  const { key, locationId } = await gateway.newTenant();
  await gateway.database.prisma.whitelistEntry.createMany({
    data: Array.from({ length: 300 }, () => ({ ...newEntry(), id: newId(), locationId })),
  });
  const operation = 'GET /locations/{locationId}/whitelist';
  const series = `gateway_errors_total{surface="rest",operation="${operation}",code="INTERNAL_ERROR"}`;
  const errors = growthOf(series, async () => {
    const headers = { 'X-API-Key': key };
    const response = await gateway.app.request(`/api/locations/${locationId}/whitelist`, { headers });
    expect(response.status).toBe(200);
    const query = vi.spyOn(gateway.database.sql, 'query').mockRejectedValue(new Error('the database failed'));
    onTestFinished(() => query.mockRestore());
    await expect(response.text()).rejects.toThrow('the database failed');
  });
  expect(await errors).toBe(1);
});

test('the metrics count requests that are refused because of the rate limit of the client address', async () => {
  const series = 'gateway_refusals_total{surface="rest",reason="limit_of_address"}';
  const headers = { 'X-Forwarded-For': 'flood-of-the-metrics' };
  const ask = () => gateway.rest('GET', '/health', { headers });
  for (let count = 0; count < 100; count += 1) await ask();
  expect(await growthOf(series, ask)).toBe(1);
});

test('the metrics show whether Redis or the process itself counts the used rate limit points', async () => {
  const own = process.env.REDIS_URL ? 'redis' : 'memory';
  expect(await valueOf(`gateway_rate_limiter_backend{backend="${own}"}`)).toBe(1);
  expect(await valueOf('gateway_rate_limiter_backend{backend="fallback"}')).toBe(0);
  expect(await valueOf('gateway_rate_limiter_backend{backend="fallback"}', withoutRedis)).toBe(1);
});

test.each([
  [
    'rest',
    'GET /locations/{locationId}/whitelist',
    'NOT_FOUND',
    (key: string) => gateway.rest('GET', '/locations/none/whitelist', { key }),
  ],
  [
    'graphql',
    'query location',
    'NOT_FOUND',
    (key: string) => gateway.graph('{ location(id: "none") { id } }', { key }),
  ],
  ['graphql', 'unknown', 'UNAUTHORIZED', () => gateway.graph('{ health { status } }')],
])(
  'the metrics count an error by surface (REST or GraphQL), operation and code: %s, %s, %s',
  async (surface, operation, code, ask) => {
    const { key } = await gateway.newTenant();
    const series = `gateway_errors_total{surface="${surface}",operation="${operation}",code="${code}"}`;
    expect(await growthOf(series, () => ask(key))).toBe(1);
  },
);

test('the metrics count unknown operations under the name `other`', async () => {
  const metrics = createMetrics({ limiter: { backend: 'memory' }, operations: ['query health'] });
  for (let index = 0; index < 50; index += 1) {
    metrics.record({
      surface: 'graphql',
      operation: `query ${index}`,
      status: 200,
      errorCode: 'NOT_FOUND',
      durationMs: 1,
      hasKey: true,
    });
  }
  const text = await metricsOf({ metrics });
  expect(text.match(/^gateway_(errors|requests)_total\{/gm)).toHaveLength(2);
  expect(text).toContain('operation="other",code="NOT_FOUND"} 50\n');
});

test.runIf(testServerUrl)('the metrics show the size and the usage of each PostgreSQL pool', async () => {
  for (const pool of ['general', 'gates', 'heavy']) {
    expect(await valueOf(`gateway_database_pool_size{pool="${pool}"}`)).toBeGreaterThan(0);
  }
  const { sql } = gateway.database;
  const size = await valueOf('gateway_database_pool_size{pool="general"}');
  await gateway.database.prisma.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT pg_advisory_xact_lock(1234567)::text`;
    const waiting = Array.from({ length: size + 1 }, () =>
      sql.query({ name: '', text: 'SELECT pg_advisory_xact_lock(1234567)::text' }, []),
    );
    await expect.poll(() => valueOf('gateway_database_pool_in_use{pool="general"}')).toBe(size);
    // At this point of the test, two queries of the test wait for a database connection. Queries of background jobs can
    // also wait, so the metric can be higher than two.
    expect(await valueOf('gateway_database_pool_waiting{pool="general"}')).toBeGreaterThanOrEqual(2);
    void Promise.all(waiting);
  });
  await expect.poll(() => valueOf('gateway_database_pool_waiting{pool="general"}')).toBe(0);
});

test('the metrics count the delivery attempts of webhooks by outcome', async () => {
  const { key, locationId, receiver } = await newSubscriber(['WHITELIST_CREATED']);
  const attempts = (outcome: string) =>
    valueOf(`gateway_webhook_attempt_duration_seconds_count{outcome="${outcome}"}`);
  const [delivered, retried] = [await attempts('delivered'), await attempts('retry')];
  await addEntry(key, locationId);
  await expect.poll(() => attempts('delivered')).toBe(delivered + 1);
  receiver.answer = 500;
  await addEntry(key, locationId);
  await expect.poll(() => attempts('retry')).toBe(retried + 1);
});

test('the metrics show the number of waiting webhook messages, and five scrapes of the metrics cause at most one database query for this number', async () => {
  const { key, locationId, receiver } = await newSubscriber(['WHITELIST_CREATED']);
  receiver.answer = 500;
  await addEntry(key, locationId);
  await expect.poll(() => receiver.messages.length).toBeGreaterThan(0);
  const backlog = await readBacklog(gateway.database);
  expect(backlog.pending).toBeGreaterThan(0);
  expect(backlog.oldestSeconds).toBeGreaterThan(0);
  const asked = await statementsOf(async () => {
    for (let scrape = 0; scrape < 5; scrape += 1) await metricsOf(gateway);
  });
  expect(asked.filter((text) => text.includes('"oldestSeconds"')).length).toBeLessThanOrEqual(1);
});

test('the metrics count the waiting webhook deliveries only up to a maximum number', async () => {
  const { key, locationId, receiver } = await newSubscriber(['WHITELIST_CREATED']);
  receiver.answer = 500;
  for (let count = 0; count < 3; count += 1) await addEntry(key, locationId);
  expect((await readBacklog(gateway.database)).pending).toBeGreaterThanOrEqual(3);
  expect((await readBacklog(gateway.database, 2)).pending).toBe(2);
});

test('the metric of waiting webhook deliveries is 0 when no delivery waits, and NaN when the database is unreachable', async () => {
  expect(await valueOf('gateway_webhook_backlog', withoutRedis)).toBe(0);
  expect(await valueOf('gateway_webhook_oldest_pending_age_seconds', withoutRedis)).toBe(0);
  const metrics = createMetrics({ limiter: { backend: 'memory' }, webhookBacklog: async () => undefined });
  expect(await valueOf('gateway_webhook_backlog', { metrics })).toBeNaN();
});

test('the metrics count the open subscriptions', async () => {
  const { key, locationId } = await gateway.newTenant();
  const open = await gateway.app.request('/graphql', {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({
      query: 'subscription ($id: ID!) { locationStatusChanged(locationId: $id) { occupied } }',
      variables: { id: locationId },
    }),
  });
  const reader = open.body!.getReader();
  await reader.read();
  await expect.poll(() => valueOf('gateway_open_subscriptions')).toBe(1);
  await reader.cancel();
  await expect.poll(() => valueOf('gateway_open_subscriptions')).toBe(0);
});

test('the metrics show the versions of the gateway, Node and the database', async () => {
  expect(await metricsOf(gateway)).toMatch(
    /^gateway_build_info\{version="\d+\.\d+\.\d+",database="(embedded|postgresql)",node="v\d+\.\d+\.\d+"\} 1$/m,
  );
});

test('after a gateway is closed, the process releases the memory of this gateway, even though prom-client still observes garbage collections', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const sourceOfMetrics = () => {
    const limiter = { backend: 'memory' as const };
    createMetrics({ limiter });
    return new WeakRef(limiter);
  };
  const source = sourceOfMetrics();
  await expect
    .poll(() => {
      collectGarbage();
      return source.deref() === undefined;
    })
    .toBe(true);
});
