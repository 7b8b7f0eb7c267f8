import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createPostgres, createRedis } from '../support/system-servers.ts';
import { checkLedger, checkMessages } from './support/checker.ts';
import { operatorKey, soak, type SoakedGateway, soakMinutes, startSoakedGateway } from './support/soak.ts';
import { newTenant, raiseOperatorLimits } from './support/tenant.ts';

// This soak test runs two gateways with PostgreSQL and Redis for a long time, without faults (docs/faults.md, "The
// soak").

const postgres = await createPostgres();
const redis = await createRedis();
await Promise.all([postgres.start(), redis.start()]);
const database = new pg.Client({ connectionString: postgres.url });
await database.connect();
const redisClient = new Redis(redis.url);
const gateways: SoakedGateway[] = [];

afterAll(async () => {
  await Promise.all(gateways.map(({ process: gateway }) => gateway.end('SIGKILL')));
  redisClient.disconnect();
  await database.end();
  await Promise.all([postgres.remove(), redis.remove()]);
});

/** Counts the connections to PostgreSQL and to Redis, except the connections of the test itself. */
async function connections() {
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  );
  const [, clients] = /connected_clients:(\d+)/.exec(await redisClient.info('clients')) ?? [];
  return { databaseConnections: rows[0]!.count, redisConnections: Number(clients) - 1 };
}

test(
  `the memory and the connections of two gateways do not keep growing during ${soakMinutes} minutes of load`,
  async () => {
    const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
    gateways.push(await startSoakedGateway(env), await startSoakedGateway(env));
    const urls = gateways.map(({ url }) => url);
    await raiseOperatorLimits(database, urls, operatorKey);
    const tenant = await newTenant(urls[0]!, operatorKey, 'soak');
    const ledger = await soak(gateways, tenant, connections);
    expect(await checkLedger(database, tenant, ledger)).toEqual([]);
    await expect.poll(() => checkMessages(database, tenant), { interval: 500 }).toEqual([]);
  },
  (soakMinutes + 5) * 60_000,
);
