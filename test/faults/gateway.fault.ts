import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { startProxy } from '../support/proxy.ts';
import { createPostgres, createRedis, freePort } from '../support/system-servers.ts';
import { clockOffBy } from './support/clock.ts';
import { checkLedger, checkMessages } from './support/checker.ts';
import { operatorKey, watchFallback } from './support/fleet.ts';
import { type Ledger, type Load, type LoadOptions, startLoad } from './support/load.ts';
import { limitedKeyBudget, newTenant, raiseOperatorLimits, type Tenant } from './support/tenant.ts';

/** How long the gateways may take to acknowledge 60 requests on a busy machine, in milliseconds. */
const progressTimeoutMs = 120_000;
/** How long each fault of a test lasts, in milliseconds. The gateway detects a fault within this time. */
const faultMs = 6_000;
/** The shortest pause between two attempts to deliver a webhook message, in milliseconds (docs/webhooks.md). */
const leastRetryDelayMs = 5_000;
/** The number of requests that the gateways must acknowledge before a fault, and again after the fault. */
const enough = 60;

const postgres = await createPostgres({ max_connections: '50' });
const redis = await createRedis();
await Promise.all([postgres.start(), redis.start()]);
const redisProxy = await startProxy(redis.url);
const database = await connectDatabase();

/**
 * The PostgreSQL role of the gateways. The gateways' role is not a superuser, so it cannot use the connections that
 * PostgreSQL reserves for superusers. A test can therefore take every connection that PostgreSQL allows to the
 * gateways.
 */
await database.query(
  'CREATE ROLE gateway LOGIN; ALTER DATABASE postgres OWNER TO gateway; GRANT ALL ON SCHEMA public TO gateway',
);
const databaseUrl = postgres.url.replace('postgres@', 'gateway@');

const ports = [await freePort(), await freePort()];
const urls = ports.map((port) => `http://127.0.0.1:${port}`);
const gateways: GatewayProcess[] = [];
/** All gateway processes that the tests have started, including processes that ended. */
const started: GatewayProcess[] = [];
/** The number of times that the tests have stopped a gateway with SIGTERM. */
let stops = 0;
/**
 * The companies that the fault tests have created. The last test of this file checks the webhook messages of every
 * created company.
 */
const tenants: Tenant[] = [];

/**
 * Opens a database connection with which a test checks the stored data. If PostgreSQL ends and the connection breaks,
 * the function ignores the error, because some tests kill PostgreSQL.
 */
async function connectDatabase(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: postgres.url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function startGateway(index: number, env: Record<string, string> = {}): Promise<void> {
  const gateway = startGatewayProcess({
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisProxy.url,
    OPERATOR_API_KEY: operatorKey,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    PORT: String(ports[index]),
    ...env,
  });
  gateways[index] = gateway;
  started.push(gateway);
  await gateway.listening();
}

beforeAll(async () => {
  await startGateway(0);
  await startGateway(1);
  await raiseOperatorLimits(database, urls, operatorKey);
}, 400_000);

afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.end('SIGKILL')));
  await database.end().catch(() => undefined);
  redisProxy.close();
  await Promise.all([postgres.remove(), redis.remove()]);
}, 60_000);

const total = ({ acknowledged }: Ledger) => acknowledged.reduce((sum, count) => sum + count, 0);

/**
 * Waits until the given gateway has acknowledged `enough` (60) more requests. If `gateway` is undefined, the function
 * counts the requests that all gateways together have acknowledged.
 */
async function progress({ ledger }: Load, gateway?: number): Promise<void> {
  const count = () => (gateway === undefined ? total(ledger) : ledger.acknowledged[gateway]!);
  const target = count() + enough;
  await expect.poll(count, { timeout: progressTimeoutMs, interval: 50 }).toBeGreaterThanOrEqual(target);
}

/**
 * When Redis fails, the gateways serve at most this number of requests with the rate-limited API key. Redis and each
 * gateway process have separate counters, and each counter allows `limitedKeyBudget` requests. During one test, Redis
 * can lose its data once, and each gateway process can restart once. A gateway process that restarts begins again with
 * an empty counter, and so does Redis after the loss of its data.
 */
const budgetWithFallback = limitedKeyBudget * (2 + 2 * ports.length);

/** Requests `/readyz` from each gateway, and returns the states of the rate limiters. */
const limiters = () =>
  Promise.all(
    urls.map(async (url) => {
      const answer = (await (await fetch(`${url}/readyz`)).json()) as { limiter: string };
      return answer.limiter;
    }),
  );

/** Waits until the clients have sent more requests with the rate-limited API key than its rate limit allows. */
async function pressLimit({ ledger }: Load): Promise<void> {
  const target = ledger.askedOfLimitedKey + 2 * budgetWithFallback;
  await expect
    .poll(() => ledger.askedOfLimitedKey, { timeout: progressTimeoutMs, interval: 50 })
    .toBeGreaterThanOrEqual(target);
}

interface FaultOptions {
  /**
   * The gateways may serve at most this number of requests with the rate-limited API key. The default of `limitBound`
   * is the rate limit of this API key. This default suits faults without an outage of Redis, because the gateways then
   * enforce rate limits exactly.
   */
  limitBound?: number;
  /**
   * Whether the test fails when a request gets no response, a status of 500 or more, or `INTERNAL_ERROR`. A connection
   * that a gateway refuses does not make the test fail.
   */
  everyRequestIsAnswered?: boolean;
  clients?: LoadOptions;
}

/** Runs clients before, during and after a fault, and compares the stored data with the acknowledged requests. */
async function under(
  name: string,
  fault: (load: Load, tenant: Tenant) => Promise<void>,
  { limitBound = limitedKeyBudget, everyRequestIsAnswered = false, clients = {} }: FaultOptions = {},
): Promise<void> {
  await expect.poll(limiters, { timeout: progressTimeoutMs }).toEqual(urls.map(() => 'ok'));
  const fellBack = watchFallback(started);
  const tenant = await newTenant(urls[0]!, operatorKey, name);
  tenants.push(tenant);
  const load = startLoad(urls, tenant, clients);
  try {
    await progress(load);
    await fault(load, tenant);
    await progress(load);
  } finally {
    await load.stop();
  }
  const checker = await connectDatabase();
  expect(await checkLedger(checker, tenant, load.ledger)).toEqual([]);
  if (everyRequestIsAnswered) expect(load.ledger.unanswered).toEqual([]);
  expect(load.ledger.servedOfLimitedKey).toBeLessThanOrEqual(fellBack() ? budgetWithFallback : limitBound);
  await checker.end();
}

describe('acknowledged changes during faults', { timeout: 400_000 }, () => {
  test('every acknowledged change is stored exactly once, even when a gateway is killed', () =>
    under('gateway-killed', async () => {
      await gateways[0]!.end('SIGKILL');
      await startGateway(0);
    }));

  test('a gateway continues to serve a location while another gateway is frozen', () =>
    under('gateway-frozen', async (load) => {
      gateways[0]!.child.kill('SIGSTOP');
      try {
        await progress(load, 1);
      } finally {
        gateways[0]!.child.kill('SIGCONT');
      }
      await progress(load, 0);
    }));

  // Vitest repeats this test up to two times after a failure, because the test sometimes fails without a defect of the
  // gateway. HTTP allows a server to close an idle connection. If a client sends a request on the connection at the
  // same moment, the request can fail.
  test(
    'a gateway that gets SIGTERM finishes its running requests and exits cleanly',
    { retry: 2 },
    async () => {
      stops += 1;
      try {
        await under(
          `gateway-stopped-${stops}`,
          async () => {
            expect(await gateways[0]!.end('SIGTERM')).toBe(0);
          },
          { everyRequestIsAnswered: true, clients: { writers: 20, pauseMs: 0 } },
        );
      } finally {
        await startGateway(0);
      }
    },
  );

  test('every acknowledged change is stored exactly once, even when PostgreSQL is killed', () =>
    under('postgres-killed', async () => {
      await postgres.kill();
      await sleep(faultMs);
      await postgres.start();
    }));

  test('every acknowledged change is stored exactly once, even when PostgreSQL hangs', () =>
    under('postgres-hung', async () => {
      postgres.freeze();
      await sleep(faultMs);
      postgres.thaw();
    }));

  test('while PostgreSQL temporarily accepts no writes, each change that the gateway acknowledges is stored exactly once', () =>
    under('postgres-read-only', async () => {
      const admin = await connectDatabase();
      await admin.query('ALTER SYSTEM SET default_transaction_read_only = on');
      await admin.query('SELECT pg_reload_conf()');
      await sleep(faultMs);
      await admin.query('BEGIN READ WRITE; SET LOCAL default_transaction_read_only = off; COMMIT');
      await admin.query('SET default_transaction_read_only = off');
      await admin.query('ALTER SYSTEM RESET default_transaction_read_only');
      await admin.query('SELECT pg_reload_conf()');
      await admin.end();
    }));

  test('every acknowledged change is stored exactly once, even when PostgreSQL refuses commits', () =>
    under('commits-refused', async (load) => {
      const admin = await connectDatabase();
      // PostgreSQL runs a deferred trigger at the commit. With a deferred trigger, a commit can fail although all SQL
      // statements of the transaction have succeeded.
      await admin.query(`
        CREATE FUNCTION refuse_some() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN IF random() < 0.5 THEN RAISE EXCEPTION 'refused at the commit'; END IF; RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER refuse_some AFTER INSERT ON "AuditRecord"
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_some()`);
      await progress(load);
      await admin.query('DROP TRIGGER refuse_some ON "AuditRecord"; DROP FUNCTION refuse_some');
      await admin.end();
    }));

  test('every acknowledged change is stored exactly once, even when PostgreSQL has no free connection', () =>
    under('postgres-full', async () => {
      const taken: pg.Client[] = [];
      // The test closes the connections between the gateways and PostgreSQL, and then takes all free connections, so
      // that the gateways cannot connect to PostgreSQL again.
      const admin = await connectDatabase();
      await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'gateway'`);
      for (let isFull = false; !isFull;) {
        const client = new pg.Client({ connectionString: databaseUrl });
        client.on('error', () => undefined);
        await client.connect().then(
          () => taken.push(client),
          () => (isFull = true),
        );
      }
      await sleep(faultMs);
      await Promise.all(taken.map((client) => client.end()));
      await admin.end();
    }));

  test('every acknowledged change is stored exactly once, even when Redis is killed', () =>
    under(
      'redis-killed',
      async (load) => {
        await redis.kill();
        await sleep(faultMs);
        await pressLimit(load);
        await redis.start();
      },
      { limitBound: budgetWithFallback, everyRequestIsAnswered: true },
    ));

  test('every acknowledged change is stored exactly once, even when Redis hangs', () =>
    under(
      'redis-hung',
      async (load) => {
        redis.freeze();
        await sleep(faultMs);
        await pressLimit(load);
        redis.thaw();
      },
      { limitBound: budgetWithFallback, everyRequestIsAnswered: true },
    ));

  test('every acknowledged change is stored exactly once, even when Redis stops answering on open connections', () =>
    under(
      'redis-silent',
      async (load) => {
        redisProxy.silence();
        await sleep(faultMs);
        await pressLimit(load);
        redisProxy.restore();
      },
      { limitBound: budgetWithFallback, everyRequestIsAnswered: true },
    ));

  test('every acknowledged change is stored exactly once, even when Redis loses its data', () =>
    under(
      'redis-flushed',
      async () => {
        const client = new Redis(redis.url);
        await client.flushall();
        client.disconnect();
      },
      { limitBound: 2 * limitedKeyBudget, everyRequestIsAnswered: true },
    ));

  test('every acknowledged change is stored exactly once, even when Redis is full', () =>
    under(
      'redis-full',
      async (load) => {
        const client = new Redis(redis.url);
        await client.config('SET', 'maxmemory', '1');
        await sleep(faultMs);
        await pressLimit(load);
        await client.config('SET', 'maxmemory', '0');
        client.disconnect();
      },
      { limitBound: budgetWithFallback, everyRequestIsAnswered: true },
    ));

  test.each(['-90s', '+90s'])(
    'every acknowledged change is stored exactly once, even when the clock of a gateway is wrong by %s',
    (offset) =>
      under(
        `clock-${offset.replace(/\W/, offset.startsWith('-') ? 'behind-' : 'ahead-')}`,
        async (load, { receiver }) => {
          await gateways[0]!.end();
          await startGateway(0, clockOffBy(offset));
          receiver.answer = 500;
          const refusingSince = performance.now();
          const before = receiver.messages.length;
          await progress(load, 0);
          // The test checks that the gateway waits long enough between failed attempts to deliver a webhook message.
          const attempts = new Map<string, number>();
          for (const { id } of receiver.messages.slice(before)) attempts.set(id, (attempts.get(id) ?? 0) + 1);
          const elapsedMs = Math.max(performance.now() - refusingSince, leastRetryDelayMs);
          // From the third delivery attempt on, the gateway pauses before each attempt. Each pause is at least as long
          // as the time between the first attempt and the last attempt before this pause. For example, if attempt 3 is
          // 10 s after attempt 1, attempt 4 is at least 20 s after attempt 1.
          const mostAttempts = 2 + Math.ceil(Math.log2(elapsedMs / leastRetryDelayMs));
          expect(Math.max(0, ...attempts.values())).toBeLessThanOrEqual(mostAttempts);
          receiver.answer = 204;
          await gateways[0]!.end();
          await startGateway(0);
        },
      ),
  );

  test.each(['nothing', 'upgrade', 301, 500] as const)(
    'every acknowledged change is stored exactly once, even when a webhook receiver responds with %s',
    (answer) =>
      under(
        `receiver-${answer}`,
        async (load, { receiver }) => {
          receiver.answer = answer;
          await progress(load);
          receiver.answer = 204;
        },
        { everyRequestIsAnswered: true },
      ),
  );
});

test('all webhook messages about one change have the same message id', { timeout: 400_000 }, async () => {
  const checker = await connectDatabase();
  // On a busy machine, the pause after a failed delivery attempt can be long. To skip the pause between two delivery
  // attempts, the test sets the time of the next delivery attempt to the current time.
  await checker.query(`
    UPDATE "WebhookDelivery" d SET "nextAttemptAt" = now()
    WHERE status = 'PENDING' AND EXISTS (SELECT FROM "WebhookAttempt" a WHERE a."deliveryId" = d.id)`);
  // An earlier test of this file killed a gateway process. This process had reserved webhook messages for itself, so
  // other processes cannot send these messages for a limited time. The test waits until the reservations of the killed
  // process have ended, and another gateway process has sent the messages.
  for (const tenant of tenants) {
    await expect
      .poll(async () => checkMessages(checker, tenant), { timeout: 150_000, interval: 500 })
      .toEqual([]);
  }
  await checker.end();
});
