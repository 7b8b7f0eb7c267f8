import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { startProxy } from '../support/proxy.ts';
import { createPostgres, createRedis, eventually, freePort } from '../support/system-servers.ts';
import { checkLedger, checkMessages } from './support/checker.ts';
import { type Ledger, type Load, startLoad } from './support/load.ts';
import { askGraph, limitedKeyBudget, newTenant, type Tenant } from './support/tenant.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const operatorKey = 'operator-key-of-the-fault-suite-0123456789';

/** How long the clients may take to reach a count, however busy the machine is. */
const progressTimeoutMs = 60_000;
/** How long a fault lasts that has to be noticed, in milliseconds. */
const faultMs = 6_000;
/** What must have been acknowledged before a fault, and again after it. */
const enough = 60;

const postgres = await createPostgres({ max_connections: '40' });
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
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root });
  await startGateway(0);
  await startGateway(1);
  await database.query(
    'UPDATE "ApiKey" SET "hourlyLimit" = 1000000, "burstLimit" = 1000000 WHERE unrestricted',
  );
  await eventually(
    'the operator has a higher limit',
    async () => {
      const answers = await Promise.all(
        urls.map((url) => fetch(`${url}/api/health`, { headers: { 'X-API-Key': operatorKey } })),
      );
      for (const { headers } of answers) expect(headers.get('x-ratelimit-limit')).toBe('1000000');
    },
    progressTimeoutMs,
  );
}, 120_000);

afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.end('SIGKILL')));
  await database.end().catch(() => undefined);
  redisProxy.close();
  await Promise.all([postgres.remove(), redis.remove()]);
}, 60_000);

/** Makes a process read another time; its timers run as before (libfaketime, of Debian's package faketime). */
function clockOffBy(offset: string): Record<string, string> {
  const library = readdirSync('/usr/lib')
    .map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`)
    .find(existsSync);
  if (!library) throw new Error('The package faketime is missing');
  return { LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

const total = ({ acknowledged }: Ledger) => acknowledged.reduce((sum, count) => sum + count, 0);

/** Waits until the clients were acknowledged so many times more, by one gateway or by both. */
async function progress({ ledger }: Load, gateway?: number): Promise<void> {
  const count = () => (gateway === undefined ? total(ledger) : ledger.acknowledged[gateway]!);
  const target = count() + enough;
  await expect.poll(count, { timeout: progressTimeoutMs, interval: 50 }).toBeGreaterThanOrEqual(target);
}

/** The budget of the limited key that processes may give out: once shared, and once more by each alone. */
const budgetWithFallback = limitedKeyBudget * (2 + gateways.length + ports.length);

/**
 * Lets clients write before, during and after a fault, and checks everything that they know.
 *
 * @param options.limitBound what the limited key may be served at most; the exact limit while Redis is healthy
 * @param options.everyRequestIsAnswered whether the fault may not be seen by clients at all
 */
async function under(
  name: string,
  fault: (load: Load, tenant: Tenant) => Promise<void>,
  { limitBound = limitedKeyBudget, everyRequestIsAnswered = false } = {},
): Promise<void> {
  const tenant = await newTenant(urls[0]!, operatorKey, name);
  tenants.push(tenant);
  const load = startLoad(urls, tenant);
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
  const fellBack = gateways.some((gateway) => gateway.output().includes('Redis does not answer'));
  expect(load.ledger.servedOfLimitedKey).toBeLessThanOrEqual(fellBack ? budgetWithFallback : limitBound);
  await checker.end();
}

describe('nothing that was acknowledged is lost, and nothing is done twice', { timeout: 180_000 }, () => {
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

  test('when a gateway is told to stop: it finishes its requests, and ends in order', () =>
    under('gateway-stopped', async () => {
      expect(await gateways[0]!.end('SIGTERM')).toBe(0);
      await startGateway(0);
    }));

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
      async () => {
        await redis.kill();
        await sleep(faultMs);
        await redis.start();
      },
      { limitBound: budgetWithFallback, everyRequestIsAnswered: true },
    ));

  test('when Redis hangs', () =>
    under(
      'redis-hung',
      async () => {
        redis.freeze();
        await sleep(faultMs);
        redis.thaw();
      },
      { limitBound: budgetWithFallback, everyRequestIsAnswered: true },
    ));

  test('when the connections to Redis fall silent', () =>
    under(
      'redis-silent',
      async () => {
        redisProxy.silence();
        await sleep(faultMs);
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
      { limitBound: budgetWithFallback, everyRequestIsAnswered: true },
    ));

  test('when Redis is full', () =>
    under(
      'redis-full',
      async () => {
        const client = new Redis(redis.url);
        await client.config('SET', 'maxmemory', '1');
        await sleep(faultMs);
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
        const before = receiver.messages.length;
        await progress(load, 0);
        // Attempts that fail are far apart, whatever a gateway takes the time for.
        const attempts = new Map<string, number>();
        for (const { id } of receiver.messages.slice(before)) attempts.set(id, (attempts.get(id) ?? 0) + 1);
        expect(Math.max(0, ...attempts.values())).toBeLessThanOrEqual(3);
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

test('every change has reached its receiver, under one id', { timeout: 240_000 }, async () => {
  const checker = await connectDatabase();
  // What a killed gateway had taken is sent by another one when its lease is over; what failed, after a pause.
  for (const tenant of tenants) {
    await expect
      .poll(async () => checkMessages(checker, tenant), { timeout: 150_000, interval: 500 })
      .toEqual([]);
  }
  await checker.end();
});

describe('an embedded database whose first start is killed', { timeout: 180_000 }, () => {
  test.each([100, 300, 600, 1000, 1500, 2500])('after %i ms starts the next time', async (afterMs) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'fault-embedded-'));
    const env = { DATA_DIR: dataDir, OPERATOR_API_KEY: operatorKey };
    const first = startGatewayProcess(env);
    await sleep(afterMs);
    await first.end('SIGKILL');
    const second = startGatewayProcess(env);
    const url = await second.listening();
    const company = await askGraph<{ id: string }>(
      url,
      operatorKey,
      'mutation ($input: RegisterCompanyInput!) { registerCompany(input: $input) { id } }',
      { input: { name: 'Fault', slug: `embedded-${afterMs}`, address: 'Dubai' } },
    );
    await second.end('SIGKILL');
    const third = startGatewayProcess(env);
    const found = await askGraph<{ id: string }>(
      await third.listening(),
      operatorKey,
      'query ($id: ID!) { company(id: $id) { id } }',
      { id: company.id },
    );
    expect(found.id).toBe(company.id);
    expect(await third.end()).toBe(0);
    rmSync(dataDir, { recursive: true });
  });
});
