import { randomUUID } from 'node:crypto';
import type { Cluster } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { checkSettings } from '../../src/redis/check-settings.ts';
import { connected, createKeyClient, createRedisClient } from '../../src/redis/client.ts';
import { beBusyAfterNextCommand } from '../support/busy.ts';
import { type RedisGroup, startRedisCluster } from '../support/redis-servers.ts';
import { createRedis } from '../support/system-servers.ts';

/** Creates a log, and a function that returns the logged warnings. */
function newLog() {
  const lines: { level: number; msg: string; cause?: string }[] = [];
  const log = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines, warnings: () => lines.filter(({ level }) => level === 40).map(({ msg }) => msg) };
}

describe('configuration of Redis', () => {
  const redisOf = (env: Record<string, string>) => loadConfig(env).redis;

  test('an operator can configure Redis with one URL, with the URLs of the nodes of a cluster, or with sentinels', () => {
    expect(redisOf({})).toBeUndefined();
    expect(redisOf({ REDIS_URL: 'redis://:a,b@one:6379/2' })).toEqual({ urls: ['redis://:a,b@one:6379/2'] });
    expect(redisOf({ REDIS_URL: 'redis://:50%25off@one' })).toEqual({ urls: ['redis://:50%25off@one'] });
    expect(redisOf({ REDIS_URL: 'rediss://u:p@one:7000, rediss://two:7001' })).toEqual({
      urls: ['rediss://u:p@one:7000', 'rediss://two:7001'],
    });
    expect(
      redisOf({
        REDIS_SENTINELS: 'one:26380, two,[::1]:26381',
        REDIS_SENTINEL_NAME: 'main',
        REDIS_SENTINEL_PASSWORD: 'secret',
      }),
    ).toEqual({
      urls: ['redis://sentinels'],
      sentinels: {
        addresses: [
          { host: 'one', port: 26_380 },
          { host: 'two', port: 26_379 },
          { host: '::1', port: 26_381 },
        ],
        name: 'main',
        password: 'secret',
      },
    });
  });

  test('in production, the gateway accepts Redis sentinels instead of a Redis URL', () => {
    const production = {
      APP_ENV: 'production',
      DATABASE_URL: 'postgresql://db/parking',
      KEY_PEPPER: 'p'.repeat(32),
    };
    const sentinels = { REDIS_SENTINELS: 'one', REDIS_SENTINEL_NAME: 'main' };
    expect(redisOf({ ...production, ...sentinels })).toMatchObject({ sentinels: { name: 'main' } });
    expect(() => redisOf(production)).toThrow('REDIS_URL is required');
  });

  test.each([
    [{ REDIS_URL: 'redis://one,http://two' }, 'must have redis:// or rediss:// before each node'],
    [{ REDIS_URL: 'redis://one:1,two:2' }, 'REDIS_URL'],
    [{ REDIS_URL: 'redis://:50%off@one' }, 'REDIS_URL must have %25 in place of each %'],
    [{ REDIS_URL: 'redis://one,redis://a%b@two' }, 'must have %25 in place of each %'],
    [{ REDIS_URL: 'redis://one/abc' }, 'REDIS_URL must have only the number of a database after the host'],
    [{ REDIS_URL: 'redis://one,redis://two/-1' }, 'redis://redis.internal:6379/0 (item 2 of 2)'],
    [{ REDIS_URL: 'redis://one/1.5' }, 'must have only the number of a database'],
    [{ REDIS_URL: 'redis://one/1/2' }, 'must have only the number of a database'],
    [
      { REDIS_URL: 'redis://one/?db=abc' },
      'REDIS_URL must have only the number of a database after the host',
    ],
    [{ REDIS_URL: 'redis://one?db=-1' }, 'must have only the number of a database'],
    [{ REDIS_URL: 'redis://one?db=' }, 'must have only the number of a database'],
    [{ REDIS_URL: 'redis://one?db=1&db=2' }, 'must have only the number of a database'],
    [{ REDIS_URL: 'redis://one/1?db=2' }, 'must have only the number of a database'],
    [{ REDIS_URL: 'redis://one,redis://two/?db=1.5' }, 'redis://redis.internal:6379/0 (item 2 of 2)'],
    [
      { REDIS_URL: 'redis://one/?tls=true' },
      'REDIS_URL must have only the number of a database after the host',
    ],
    [{ REDIS_URL: 'redis://one/0?family=6' }, 'must have only the number of a database'],
    [{ REDIS_URL: 'redis://one?db=1&connectTimeout=1' }, 'must have only the number of a database'],
    [{ REDIS_URL: 'redis://one#2' }, 'must have only the number of a database'],
    [{ REDIS_URL: 'redis://one,redis://two?password=x' }, 'redis://redis.internal:6379/0 (item 2 of 2)'],
    [{ REDIS_URL: 'redis://one,rediss://two' }, 'REDIS_URL must be all redis:// or all rediss://'],
    [{ REDIS_SENTINELS: 'one:x', REDIS_SENTINEL_NAME: 'main' }, 'REDIS_SENTINELS'],
    [{ REDIS_SENTINELS: 'redis://one', REDIS_SENTINEL_NAME: 'main' }, 'REDIS_SENTINELS'],
    [{ REDIS_SENTINELS: 'one' }, 'REDIS_SENTINEL_NAME is required with REDIS_SENTINELS'],
    [
      { REDIS_SENTINELS: 'one', REDIS_SENTINEL_NAME: 'main', REDIS_URL: 'redis://one,redis://two' },
      'REDIS_URL must be one URL with REDIS_SENTINELS',
    ],
  ])('the Redis configuration %o is refused', (env, message) => {
    expect(() => redisOf(env)).toThrow(message);
  });

  test('the configuration error does not show the text after the question mark in a Redis URL, because this text can be a part of a password', () => {
    expect(() => redisOf({ REDIS_URL: 'redis://user:12?secret=hidden@one' })).toThrow(
      /^REDIS_URL (?!.*(secret|hidden))/,
    );
  });

  test.each(['redis://one/2', 'redis://one/?db=2', 'redis://one?db=2'])(
    'with sentinels, the client of the Redis URL %s uses database 2, as without sentinels',
    (url) => {
      const sentinels = { REDIS_SENTINELS: '127.0.0.1:1', REDIS_SENTINEL_NAME: 'main' };
      for (const env of [{ REDIS_URL: url }, { REDIS_URL: url, ...sentinels }]) {
        const redis = createRedisClient(redisOf(env)!, newLog().log, { lazyConnect: true });
        expect(redis.options.db).toBe(2);
        redis.disconnect();
      }
    },
  );
});

describe.runIf(process.env.REDIS_URL)('warnings about the configuration of Redis', () => {
  test.each([
    [
      'that evicts keys',
      ['--maxmemory', '50mb', '--maxmemory-policy', 'volatile-lru'],
      ['removes rate limits'],
    ],
    ['with a memory limit and noeviction', ['--maxmemory', '50mb', '--maxmemory-policy', 'noeviction'], []],
    ['without a memory limit', ['--maxmemory-policy', 'allkeys-lru'], []],
    ['that is a node of a cluster', ['--cluster-enabled', 'yes'], ['names one node of a Redis Cluster']],
    ['that does not answer INFO', ['--user', 'default', 'on', 'nopass', '~*', '&*', '+@all', '-info'], []],
  ])(
    'the gateway logs the expected warnings about the settings of a Redis server %s',
    async (_, options, warnings) => {
      const server = await createRedis(options);
      await server.start();
      onTestFinished(server.remove);
      const { log, warnings: warned } = newLog();
      const redis = createKeyClient({ urls: [server.url] }, log, { commandTimeout: 5000 });
      onTestFinished(() => redis.disconnect());
      await checkSettings(redis, log);
      expect(warned()).toHaveLength(warnings.length);
      for (const warning of warnings) expect(warned().join()).toContain(warning);
    },
  );
});

test.runIf(process.env.REDIS_URL)(
  'when Redis has fewer databases than the number in the Redis URL, the gateway logs the error of Redis',
  async () => {
    const server = await createRedis(['--databases', '2']);
    await server.start();
    onTestFinished(server.remove);
    const { log, lines } = newLog();
    const redis = createKeyClient({ urls: [`${server.url}/2`] }, log, { commandTimeout: 5000 });
    onTestFinished(() => redis.disconnect());
    await connected(redis);
    expect(lines).toEqual([
      expect.objectContaining({
        level: 50,
        cause: 'ERR DB index is out of range',
        msg: 'Redis refuses the database number of REDIS_URL; database 0 is used',
      }),
    ]);
  },
);

describe.runIf(process.env.REDIS_URL)('the connections to a Redis cluster', () => {
  let cluster: RedisGroup;
  beforeAll(async () => {
    cluster = await startRedisCluster(3);
  });
  afterAll(() => cluster.remove());

  /** Creates a Redis client. Also returns a function that starts a rate limiter with this Redis client. */
  function newClient({ commandTimeout = 5000, nodes = cluster.nodes } = {}) {
    const { log, warnings } = newLog();
    const urls = nodes.map(({ url }) => url) as [string, ...string[]];
    const redis = createKeyClient({ urls }, log, { commandTimeout });
    onTestFinished(() => redis.disconnect());
    const startLimiter = () => {
      const limiter = createRateLimiter({ windowSeconds: 3600, burstWindowSeconds: 60, redis, log });
      onTestFinished(() => limiter.close());
      return limiter;
    };
    return { redis, startLimiter, warnings };
  }

  /**
   * Stops the clock `performance.now` for one test. The function `connected` measures its time limit with
   * `performance.now`. When a test stops this clock, the time limit never ends. The test therefore also passes on a
   * busy machine.
   */
  function stopClock() {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    onTestFinished(() => clock.mockRestore());
  }

  test('a starting gateway waits for every node of the Redis cluster, so that even the first request uses the shared rate limits', async () => {
    stopClock();
    const { redis, startLimiter, warnings } = newClient();
    await connected(redis);
    expect(startLimiter().backend).toBe('redis');
    expect(warnings()).toEqual([]);
  });

  test('a starting gateway waits for a slow node of the Redis cluster', async () => {
    stopClock();
    const [first, ...slow] = cluster.nodes;
    slow.forEach((node) => node.freeze());
    // The test needs a Redis cluster client with a single known node. It therefore gives the same Redis URL twice,
    // because one URL would create a client for a single Redis server. The Redis client learns the addresses of the
    // other nodes from the first node.
    const { redis, startLimiter, warnings } = newClient({ nodes: [first!, first!] });
    let isConnected = false;
    const connecting = connected(redis).then(() => (isConnected = true));
    try {
      await expect.poll(() => (redis as Cluster).nodes('master').length).toBe(3);
      expect(isConnected).toBe(false);
    } finally {
      slow.forEach((node) => node.thaw());
    }
    await connecting;
    expect(startLimiter().backend).toBe('redis');
    expect(warnings()).toEqual([]);
  });

  test('a gateway process that is too busy to read a response of the Redis cluster in time continues to use the shared rate limits', async () => {
    const [busy, other] = [newClient({ commandTimeout: 150 }), newClient()];
    await Promise.all([connected(busy.redis), connected(other.redis)]);
    const limiters = [busy, other].map(({ startLimiter }) => startLimiter());
    await expect.poll(() => limiters.map(({ backend }) => backend)).toEqual(['redis', 'redis']);
    const [busyLimiter, otherLimiter] = limiters;
    const subject = { kind: 'key' as const, id: randomUUID(), hourlyLimit: 1, burstLimit: 1 };
    await otherLimiter!.consume(subject);
    beBusyAfterNextCommand(busy.redis);
    expect(await busyLimiter!.consume(subject)).toMatchObject({ allowed: false });
    expect(busyLimiter!.backend).toBe('redis');
  });

  test('when a node of the Redis cluster does not run, a gateway starts without the node, and logs a warning', async () => {
    const [lost] = cluster.nodes;
    await lost!.kill();
    const { redis, startLimiter, warnings } = newClient();
    await connected(redis);
    const limiter = startLimiter();
    expect(limiter.backend).toBe('fallback');
    expect(warnings().join()).toContain(
      'Redis does not answer; each process enforces rate limits separately',
    );
    await lost!.start();
    await expect.poll(() => limiter.backend).toBe('redis');
  });
});
