import { z } from 'zod';
import { defaultPorts, type RedisServers, withoutBrackets } from './servers.ts';

/**
 * Whether the user name and the password in a URL can be decoded. A `%` that is itself a character of the password must
 * be written as `%25`.
 */
export function hasDecodableLogin(url: string): boolean {
  if (!URL.canParse(url)) return true; // another rule reports the invalid URL
  const { username, password } = new URL(url);
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a Redis URL ends after the host, or contains only a database number after the host, such as `/0` or `?db=0`.
 * A Redis URL may contain no other parameter after the host. With a single Redis server, the package ioredis would use
 * other parameters than the database number. In the URL of a cluster or of sentinels, ioredis would ignore them. For a
 * single Redis server, other parameters would also replace the options that the gateway sets.
 */
export function hasDatabaseNumber(url: string): boolean {
  if (!URL.canParse(url)) return true; // another rule reports the invalid URL
  const { pathname, search, hash } = new URL(url);
  return /^(\/?|\/\d+|\/?\?db=\d+)$/.test(pathname + search + hash);
}

/** Parses the address of a sentinel in a list such as `a.internal:26379,b.internal`. */
export const sentinelAddress = z.string().transform((text, context) => {
  const address = `redis://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url?.hostname || url.href !== `redis://${url.host}`) {
    context.addIssue({
      code: 'custom',
      message: 'must be addresses separated by commas, such as a.internal:26379,b.internal:26379',
    });
    return z.NEVER;
  }
  return { host: withoutBrackets(url.hostname), port: Number(url.port) || defaultPorts.sentinel };
});

/**
 * The default Redis URL when sentinels are configured. With the default URL, the connection to the Redis primary uses
 * no TLS and no password. The host name `sentinels` is only a placeholder, because the gateway gets the address of the
 * Redis primary from the sentinels.
 */
const plainPrimary = 'redis://sentinels';

/**
 * Returns the Redis servers that the environment variables configure, or `undefined` when no variable configures Redis.
 */
export function redisServers(env: {
  REDIS_URL?: readonly [string, ...string[]] | undefined;
  REDIS_SENTINELS?: readonly z.output<typeof sentinelAddress>[] | undefined;
  REDIS_SENTINEL_NAME?: string | undefined;
  REDIS_SENTINEL_PASSWORD?: string | undefined;
}): RedisServers | undefined {
  const { REDIS_URL: urls, REDIS_SENTINELS: addresses, REDIS_SENTINEL_NAME: name = '' } = env;
  if (!addresses) return urls && { urls };
  return {
    urls: urls ?? [plainPrimary],
    sentinels: { addresses, name, password: env.REDIS_SENTINEL_PASSWORD },
  };
}
