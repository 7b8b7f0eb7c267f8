import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import type { RateLimiter, RateLimitSubject } from '../../src/rate-limit/types.ts';
import { connected, createKeyClient } from '../../src/redis/client.ts';
import { createRedisPubSub } from '../../src/redis/pub-sub.ts';
import { createCertificate, type OwnCertificate } from '../support/certificate.ts';
import {
  primaryName,
  type RedisGroup,
  type SentinelGroup,
  startRedisCluster,
  startSentinels,
} from '../support/redis-servers.ts';
import { createPostgres, createRedis } from '../support/system-servers.ts';
import {
  budgetWithFallback,
  type Fleet,
  operatorKey,
  progress,
  expectExactLimit,
  startFleet,
} from './support/fleet.ts';
import { type Load, startLoad } from './support/load.ts';
import { limitedKeyBudget, newTenant } from './support/tenant.ts';

// These tests run Redis as a cluster and with sentinels, and check that no client request fails when a Redis server
// fails under load.

const password = 'own-password';
const timeout = 400_000;
const postgres = await createPostgres();
let certificate: OwnCertificate;

beforeAll(async () => {
  certificate = await createCertificate();
  await postgres.start();
});
afterAll(async () => {
  await Promise.all([postgres.remove(), certificate.remove()]);
});

/**
 * Runs clients with a rate-limited API key before, during and after a fault of Redis, and checks that no request fails.
 */
async function unnoticed(fleet: Fleet, name: string, fault: (load: Load) => Promise<void>): Promise<void> {
  const tenant = await newTenant(fleet.urls[0]!, operatorKey, name);
  const load = startLoad(fleet.urls, tenant);
  try {
    await progress(load);
    await fault(load);
    await expect.poll(() => fleet.readiness('limiter')).toEqual(fleet.urls.map(() => 'ok'));
    await progress(load);
  } finally {
    await load.stop();
  }
  expect(load.ledger.unanswered).toEqual([]);
  expect(load.ledger.servedOfLimitedKey).toBeGreaterThanOrEqual(limitedKeyBudget);
  expect(load.ledger.servedOfLimitedKey).toBeLessThanOrEqual(budgetWithFallback(fleet.urls.length));
}

describe('rate limits on a Redis cluster', { timeout }, () => {
  let cluster: RedisGroup;
  let fleet: Fleet;
  const limiters: RateLimiter[] = [];
  const log = pino({ level: 'silent' });
  const urls = () => cluster.nodes.map(({ url }) => url) as [string, ...string[]];

  beforeAll(async () => {
    cluster = await startRedisCluster(3, { password });
    fleet = await startFleet(2, { DATABASE_URL: postgres.url, REDIS_URL: urls().join() });
    for (let index = 0; index < 2; index += 1) {
      const redis = createKeyClient({ urls: urls() }, log, { commandTimeout: 5000 });
      await connected(redis);
      limiters.push(createRateLimiter({ windowSeconds: 3600, burstWindowSeconds: 60, redis, log }));
    }
  }, timeout);
  afterAll(async () => {
    await Promise.all(limiters.map((limiter) => limiter.close()));
    await fleet.kill();
    await cluster.remove();
  });

  const newSubjects = () =>
    Array.from({ length: 30 }, (): RateLimitSubject => ({
      kind: 'key',
      id: randomUUID(),
      hourlyLimit: 10,
      burstLimit: 10,
    }));
  /**
   * Sends 20 concurrent requests for each API key in `subjects`: ten to each of the two rate limiters. Returns, for
   * each API key, how many of the 20 requests the rate limiters allowed.
   */
  const passed = (subjects: RateLimitSubject[]) =>
    Promise.all(
      subjects.map(async (subject) => {
        const decisions = await Promise.all(
          Array.from({ length: 20 }, (_, index) => limiters[index % 2]!.consume(subject)),
        );
        return decisions.filter(({ allowed }) => allowed).length;
      }),
    );

  test('rate limits are exact on every node of a Redis cluster, even when many requests arrive at the same time', async () => {
    await expect.poll(() => limiters.map(({ backend }) => backend)).toEqual(['redis', 'redis']);
    expect(await passed(newSubjects())).toEqual(Array(30).fill(10));
    await expect.poll(() => fleet.readiness('limiter')).toEqual(['ok', 'ok']);
  });

  test('a notice of a change reaches every gateway process, even when the sender is connected to a different node of the Redis cluster', async () => {
    // The test opens 12 connections to Redis, as 12 gateway processes would. Each connection chooses a random node of
    // the Redis cluster, so the 12 connections almost certainly use more than one node.
    const processes = Array.from({ length: 12 }, () => createRedisPubSub({ urls: urls() }, log));
    await expect.poll(() => processes.every((pubSub) => pubSub.connected)).toBe(true);
    const heard = new Set<number>();
    for (const [index, pubSub] of processes.entries())
      await pubSub.subscribe('whitelist', () => heard.add(index));
    await processes[0]!.publish('whitelist', 'one');
    await expect.poll(() => heard.size).toBe(processes.length);
    await Promise.all(processes.map((pubSub) => pubSub.close()));
  });

  test('when a node of the Redis cluster is killed under load, no request fails, and rate limits on the other nodes stay exact', async () => {
    const [lost] = cluster.nodes;
    const subjects = newSubjects();
    await unnoticed(fleet, 'cluster-node-lost', async (load) => {
      await lost!.kill();
      await expect.poll(() => limiters.map(({ backend }) => backend)).toEqual(['fallback', 'fallback']);
      await expect.poll(() => fleet.readiness('limiter')).toEqual(['fallback', 'fallback']);
      const counts = await passed(subjects);
      // Each API key may send 10 requests per minute, and also only 10 requests per hour. The killed Redis node stored
      // the request counts of some API keys. Without this Redis node, each of the two rate limiters counts the requests
      // of these API keys in its own memory. For an API key whose request counts were lost, the two rate limiters
      // together therefore allow 20 requests. For an API key whose request counts were not lost, the two rate limiters
      // together allow 10 requests.
      expect([...new Set(counts)].sort((a, b) => a - b)).toEqual([10, 20]);
      expect(counts.filter((count) => count === 10).length).toBeGreaterThan(counts.length / 3);
      await progress(load);
      await lost!.start();
      await expect.poll(() => limiters.map(({ backend }) => backend)).toEqual(['redis', 'redis']);
    });
    expect(await passed(newSubjects())).toEqual(Array(30).fill(10));
  });

  test('under load, no request fails when a Redis node hangs', () =>
    unnoticed(fleet, 'cluster-node-hung', async (load) => {
      const [, hung] = cluster.nodes;
      hung!.freeze();
      await expect.poll(() => fleet.readiness('limiter')).toEqual(['fallback', 'fallback']);
      await progress(load);
      hung!.thaw();
    }));
});

describe('Redis with sentinels, TLS and passwords', { timeout }, () => {
  let group: SentinelGroup;
  let fleet: Fleet;

  beforeAll(async () => {
    group = await startSentinels({ password, certificate });
    fleet = await startFleet(2, {
      DATABASE_URL: postgres.url,
      REDIS_URL: `rediss://:${password}@the-primary`,
      REDIS_SENTINELS: group.addresses,
      REDIS_SENTINEL_NAME: primaryName,
      REDIS_SENTINEL_PASSWORD: password,
      NODE_EXTRA_CA_CERTS: certificate.file,
    });
  }, timeout);
  afterAll(async () => {
    await fleet.kill();
    await group.remove();
  });

  test('gateways with Redis sentinels share rate limits through the current Redis primary', async () => {
    await expect.poll(() => fleet.readiness('limiter')).toEqual(['ok', 'ok']);
    const { limitedKey } = await newTenant(fleet.urls[0]!, operatorKey, 'sentinels-exact');
    await expectExactLimit(fleet, fleet.urls, limitedKey);
  });

  test.each(['freeze', 'kill'] as const)(
    'no request fails during a Redis failover (fault of the Redis primary: %s)',
    (fault) =>
      unnoticed(fleet, `sentinels-${fault}`, async (load) => {
        const before = await group.primaryPort();
        const primary = group.nodes.find(({ url }) => url.endsWith(`:${before}`))!;
        await primary[fault]();
        await expect.poll(() => group.primaryPort()).not.toBe(before);
        await expect.poll(() => fleet.readiness('limiter')).toEqual(['ok', 'ok']);
        await expect.poll(() => fleet.readiness('notices')).toEqual(['ok', 'ok']);
        await progress(load);
        // The former Redis primary starts again and still acts as a primary, until the sentinels change its role.
        await (fault === 'freeze' ? primary.thaw() : primary.start());
      }),
  );
});

test('gateways share rate limits through one Redis server with TLS and a password', { timeout }, async () => {
  const redis = await createRedis([], { password, certificate });
  await redis.start();
  const fleet = await startFleet(2, {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    NODE_EXTRA_CA_CERTS: certificate.file,
  });
  await expect.poll(() => fleet.readiness('limiter')).toEqual(['ok', 'ok']);
  const { limitedKey } = await newTenant(fleet.urls[0]!, operatorKey, 'tls-exact');
  await expectExactLimit(fleet, fleet.urls, limitedKey);
  await fleet.kill();
  await redis.remove();
});
