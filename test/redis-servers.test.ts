import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../src/config.ts';
import { checkSettings } from '../src/redis/check-settings.ts';
import { createKeyClient } from '../src/redis/client.ts';
import { createRedis } from './support/system-servers.ts';

describe('where Redis is', () => {
  const redisOf = (env: Record<string, string>) => loadConfig(env).redis;

  test('is said by one URL, the nodes of a cluster, or sentinels', () => {
    expect(redisOf({})).toBeUndefined();
    expect(redisOf({ REDIS_URL: 'redis://:a,b@one:6379/2' })).toEqual({ urls: ['redis://:a,b@one:6379/2'] });
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

  test('is enough with sentinels alone in production', () => {
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
    [{ REDIS_URL: 'redis://one,rediss://two' }, 'REDIS_URL must be all redis:// or all rediss://'],
    [{ REDIS_SENTINELS: 'one:x', REDIS_SENTINEL_NAME: 'main' }, 'REDIS_SENTINELS'],
    [{ REDIS_SENTINELS: 'redis://one', REDIS_SENTINEL_NAME: 'main' }, 'REDIS_SENTINELS'],
    [{ REDIS_SENTINELS: 'one' }, 'REDIS_SENTINEL_NAME is required with REDIS_SENTINELS'],
    [
      { REDIS_SENTINELS: 'one', REDIS_SENTINEL_NAME: 'main', REDIS_URL: 'redis://one,redis://two' },
      'REDIS_URL must be one URL with REDIS_SENTINELS',
    ],
  ])('is refused as %o', (env, message) => {
    expect(() => redisOf(env)).toThrow(message);
  });
});

describe.runIf(process.env.REDIS_URL)('a start', () => {
  test.each([
    [
      'that forgets windows',
      ['--maxmemory', '50mb', '--maxmemory-policy', 'volatile-lru'],
      ['forgets rate limits'],
    ],
    ['that refuses what is new', ['--maxmemory', '50mb', '--maxmemory-policy', 'noeviction'], []],
    ['whose memory has no limit', ['--maxmemory-policy', 'allkeys-lru'], []],
    ['that is a node of a cluster', ['--cluster-enabled', 'yes'], ['names one node of a Redis Cluster']],
    ['that does not tell', ['--user', 'default', 'on', 'nopass', '~*', '&*', '+@all', '-info'], []],
  ])('warns of a Redis %s, or says nothing', async (_, options, warnings) => {
    const server = await createRedis(options);
    await server.start();
    onTestFinished(server.remove);
    const words: { level: number; msg: string }[] = [];
    const log = pino({ level: 'debug' }, { write: (line) => void words.push(JSON.parse(line)) });
    const redis = createKeyClient({ urls: [server.url] }, log, { commandTimeout: 5000 });
    onTestFinished(() => redis.disconnect());
    await checkSettings(redis, log);
    const warned = words.filter(({ level }) => level === 40).map(({ msg }) => msg);
    expect(warned).toHaveLength(warnings.length);
    for (const warning of warnings) expect(warned.join()).toContain(warning);
  });
});
