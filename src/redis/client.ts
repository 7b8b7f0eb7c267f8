import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';

/** The longest pause between attempts to connect, in milliseconds. */
const maxReconnectDelayMs = 1000;
/** How long a command may wait for any sign of life before the connection is given up, in milliseconds. */
const socketTimeoutMs = 5000;

/** How often each connection is asked whether it is alive, in milliseconds. */
const pingIntervalMs = 2000;

/**
 * A client that never crashes the process and connects again for ever. The log tells when the
 * connection is lost and when it is back, not every attempt.
 */
export function createRedisClient(url: string, log: Logger, options: RedisOptions = {}): Redis {
  const redis = new Redis(url, {
    retryStrategy: (attempt) => Math.min(attempt * 50, maxReconnectDelayMs),
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    socketTimeout: socketTimeoutMs,
    ...options,
  });
  let known: 'up' | 'down' | undefined;
  const changed = (state: 'up' | 'down', cause?: Error) => {
    if (known === state) return;
    // Only the message: a refused log-in carries the command with the password.
    if (state === 'down') log.warn({ cause: cause?.message }, 'Redis connection lost');
    else if (known === 'down') log.info('Redis connection is back');
    known = state;
  };
  // A firewall can drop a connection without a word: only a question without an answer shows it, after which
  // `socketTimeout` replaces the connection. Together that takes 7 s at most.
  const pings = setInterval(() => {
    if (redis.status === 'ready') redis.ping().catch(() => undefined);
  }, pingIntervalMs).unref();
  redis.on('end', () => clearInterval(pings));
  redis.on('ready', () => changed('up'));
  redis.on('error', (error) => changed('down', error));
  return redis;
}

/** How long a start waits for Redis before it goes on without, in milliseconds. */
const firstConnectTimeoutMs = 1000;

/** Waits until a new client is connected, or a second at most: a gateway starts without Redis too. */
export async function connected(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return;
  await Promise.race([once(redis, 'ready'), sleep(firstConnectTimeoutMs, undefined, { ref: false })]).catch(
    () => undefined,
  );
}
