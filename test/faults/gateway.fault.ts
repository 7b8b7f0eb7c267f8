import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { startProxy } from '../support/proxy.ts';
import { createPostgres, createRedis, freePort } from '../support/system-servers.ts';
import { clockOffBy } from './support/clock.ts';
import { checkLedger, checkMessages } from './support/checker.ts';
import { operatorKey } from './support/fleet.ts';
import { type Ledger, type Load, type LoadOptions, startLoad } from './support/load.ts';
import { limitedKeyBudget, newTenant, raiseOperatorLimits, type Tenant } from './support/tenant.ts';

/** How long the clients may take to reach a count, however busy the machine is. */
const progressTimeoutMs = 120_000;
/** How long a fault lasts that has to be noticed, in milliseconds. */
const faultMs = 6_000;
/** The shortest pause between two attempts to deliver a message, in milliseconds (docs/webhooks.md). */
const leastRetryDelayMs = 5_000;
/** What must have been acknowledged before a fault, and again after it. */
const enough = 60;

const postgres = await createPostgres({ max_connections: '50' });
const redis = await createRedis();
await Promise.all([postgres.start(), redis.start()]);
const redisProxy = await startProxy(redis.url);
const database = await connectDatabase();

/** The role of the gateways: not a superuser, for whom PostgreSQL keeps connections free. */
await database.query(
  'CREATE ROLE gateway LOGIN; ALTER DATABASE postgres OWNER TO gateway; GRANT ALL ON SCHEMA public TO gateway',
);
const databaseUrl = postgres.url.replace('postgres@', 'gateway@');

const ports = [await freePort(), await freePort()];
const urls = ports.map((port) => `http://127.0.0.1:${port}`);
const gateways: GatewayProcess[] = [];
/** How often the test of a gateway that stops was tried. */
let stops = 0;
/** The companies of all faults: their messages are checked at the end, when all have been sent. */
const tenants: Tenant[] = [];

/** A connection of the checker's own; it is lost when PostgreSQL is killed. */
async function connectDatabase(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: postgres.url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function startGateway(index: number, env: Record<string, string> = {}): Promise<void> {
  gateways[index] = startGatewayProcess({
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisProxy.url,
    OPERATOR_API_KEY: operatorKey,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    PORT: String(ports[index]),
    ...env,
  });
  await gateways[index].listening();
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

/** Waits until the clients were acknowledged so many times more, by one gateway or by both. */
async function progress({ ledger }: Load, gateway?: number): Promise<void> {
  const count = () => (gateway === undefined ? total(ledger) : ledger.acknowledged[gateway]!);
  const target = count() + enough;
  await expect.poll(count, { timeout: progressTimeoutMs, interval: 50 }).toBeGreaterThanOrEqual(target);
}

/**
 * The budget of the limited key that the processes may give out when Redis did not answer: once shared before, once
 * shared again by a Redis that forgot, and once by each process alone; each of the two may have been started again.
 */
const budgetWithFallback = limitedKeyBudget * (2 + 2 * ports.length);

/** Whether each gateway says that Redis answers its limiter. */
const limiters = () =>
  Promise.all(
    urls.map(async (url) => {
      const answer = (await (await fetch(`${url}/readyz`)).json()) as { limiter: string };
      return answer.limiter;
    }),
  );

/** Waits until the limited key was refused so often that a process without a bound would have shown itself. */
async function pressLimit({ ledger }: Load): Promise<void> {
  const target = ledger.askedOfLimitedKey + 2 * budgetWithFallback;
  await expect
    .poll(() => ledger.askedOfLimitedKey, { timeout: progressTimeoutMs, interval: 50 })
    .toBeGreaterThanOrEqual(target);
}

interface FaultOptions {
  /** What the limited key may be served at most; the exact limit while Redis is healthy. */
  limitBound?: number;
  /** Whether the fault may not be seen by clients at all. */
  everyRequestIsAnswered?: boolean;
  clients?: LoadOptions;
}

/**
 * Lets clients write before, during and after a fault, and checks everything that they know.
 */
async function under(
  name: string,
  fault: (load: Load, tenant: Tenant) => Promise<void>,
  { limitBound = limitedKeyBudget, everyRequestIsAnswered = false, clients = {} }: FaultOptions = {},
): Promise<void> {
  await expect.poll(limiters, { timeout: progressTimeoutMs }).toEqual(urls.map(() => 'ok'));
  const printedBefore = new Map(gateways.map((gateway) => [gateway, gateway.output().length]));
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
  if (everyRequestIsAnswered) expect(load.ledger.unanswered).toBe(0);
  // A process that did not hear from Redis in time limited on its own, and said so.
  const fellBack = gateways.some((gateway) =>
    gateway.output().includes('Redis does not answer', printedBefore.get(gateway)),
  );
  expect(load.ledger.servedOfLimitedKey).toBeLessThanOrEqual(fellBack ? budgetWithFallback : limitBound);
  await checker.end();
}

describe('nothing that was acknowledged is lost, and nothing is done twice', { timeout: 400_000 }, () => {
  test('when a gateway is killed', () =>
    under('gateway-killed', async () => {
      await gateways[0]!.end('SIGKILL');
      await startGateway(0);
    }));

  test('when a gateway freezes: the other one goes on at the same location', () =>
    under('gateway-frozen', async (load) => {
      gateways[0]!.child.kill('SIGSTOP');
      try {
        await progress(load, 1);
      } finally {
        gateways[0]!.child.kill('SIGCONT');
      }
      await progress(load, 0);
    }));

  // A connection that is idle may be closed while a request is on its way there: that is no fault, and happens seldom.
  test(
    'when a gateway is told to stop: it finishes its requests, and ends in order',
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

  test('when PostgreSQL is killed', () =>
    under('postgres-killed', async () => {
      await postgres.kill();
      await sleep(faultMs);
      await postgres.start();
    }));

  test('when PostgreSQL hangs', () =>
    under('postgres-hung', async () => {
      postgres.freeze();
      await sleep(faultMs);
      postgres.thaw();
    }));

  test('when PostgreSQL takes no writes', () =>
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

  test('when PostgreSQL refuses commits', () =>
    under('commits-refused', async (load) => {
      const admin = await connectDatabase();
      // A deferred trigger runs at the commit, when all statements have succeeded.
      await admin.query(`
        CREATE FUNCTION refuse_some() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN IF random() < 0.5 THEN RAISE EXCEPTION 'refused at the commit'; END IF; RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER refuse_some AFTER INSERT ON "AuditRecord"
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_some()`);
      await progress(load);
      await admin.query('DROP TRIGGER refuse_some ON "AuditRecord"; DROP FUNCTION refuse_some');
      await admin.end();
    }));

  test('when PostgreSQL has no connection left', () =>
    under('postgres-full', async () => {
      const taken: pg.Client[] = [];
      // Whoever holds a connection keeps it; those that the gateways open anew are refused.
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

  test('when Redis is killed', () =>
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

  test('when Redis hangs', () =>
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

  test('when the connections to Redis fall silent', () =>
    under(
      'redis-silent',
      async (load) => {
        redisProxy.silence();
        await sleep(faultMs);
        await pressLimit(load);
        redisProxy.mend();
      },
      { limitBound: budgetWithFallback, everyRequestIsAnswered: true },
    ));

  test('when Redis forgets everything', () =>
    under(
      'redis-flushed',
      async () => {
        const client = new Redis(redis.url);
        await client.flushall();
        client.disconnect();
      },
      { limitBound: 2 * limitedKeyBudget, everyRequestIsAnswered: true },
    ));

  test('when Redis is full', () =>
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

  test.each(['-90s', '+90s'])('when the clock of a gateway is off by %s', (offset) =>
    under(
      `clock-${offset.replace(/\W/, offset.startsWith('-') ? 'behind-' : 'ahead-')}`,
      async (load, { receiver }) => {
        await gateways[0]!.end();
        await startGateway(0, clockOffBy(offset));
        receiver.answer = 500;
        const refusingSince = performance.now();
        const before = receiver.messages.length;
        await progress(load, 0);
        // Attempts that fail are far apart, whatever a gateway takes the time for.
        const attempts = new Map<string, number>();
        for (const { id } of receiver.messages.slice(before)) attempts.set(id, (attempts.get(id) ?? 0) + 1);
        const elapsedMs = Math.max(performance.now() - refusingSince, leastRetryDelayMs);
        // After the first pause each is at least as long as the message has been tried: the time doubles.
        const mostAttempts = 2 + Math.ceil(Math.log2(elapsedMs / leastRetryDelayMs));
        expect(Math.max(0, ...attempts.values())).toBeLessThanOrEqual(mostAttempts);
        receiver.answer = 204;
        await gateways[0]!.end();
        await startGateway(0);
      },
    ),
  );

  test.each(['nothing', 'upgrade', 301, 500] as const)('when a receiver of webhooks answers %s', (answer) =>
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

test('every change has reached its receiver, under one id', { timeout: 400_000 }, async () => {
  const checker = await connectDatabase();
  // What failed waits for as long as it was tried, which is long on a busy machine: the pause is skipped, not the retry.
  await checker.query(`
    UPDATE "WebhookDelivery" d SET "nextAttemptAt" = now()
    WHERE status = 'PENDING' AND EXISTS (SELECT FROM "WebhookAttempt" a WHERE a."deliveryId" = d.id)`);
  // What a killed gateway had taken is sent by another one when its lease is over.
  for (const tenant of tenants) {
    await expect
      .poll(async () => checkMessages(checker, tenant), { timeout: 150_000, interval: 500 })
      .toEqual([]);
  }
  await checker.end();
});
