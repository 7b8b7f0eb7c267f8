import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import { shardsOf } from '../redis/shards.ts';
import { MemoryRollingLimiter } from './memory.ts';
import { watchRedis } from './redis-health.ts';
import { RedisRollingLimiter } from './redis.ts';
import { RememberedRefusals } from './refusals.ts';
import type {
  RateLimitDecision,
  RateLimiter,
  RateLimitSubject,
  RateLimitWindow,
  RateLimitWindows,
  RollingLimiter,
  WindowCount,
  WindowState,
} from './types.ts';

/**
 * Creates the rate limiter of a process. The rate limiter counts rate limit points in exact rolling windows. If Redis
 * is configured, all processes share the rate limit windows in Redis. Without Redis, the rate limit windows are in the
 * memory of the process.
 */
export function createRateLimiter(
  options: RateLimitWindows & { redis: Redis | Cluster | undefined; log: Logger },
): RateLimiter {
  const { redis, log } = options;
  const decide = (subject: RateLimitSubject, state: WindowState) => decision(subject, state, options);
  const memory = new MemoryRollingLimiter(options);
  if (!redis) return { backend: 'memory', ...decisions(memory, decide), close: async () => undefined };

  const health = watchRedis(redis, shardsOf(redis), (shard) => shared.probe(shard), log);
  const shared = new RedisRollingLimiter(redis, { ...options, insurance: memory, health });
  return {
    get backend() {
      return health.answers ? ('redis' as const) : ('fallback' as const);
    },
    ...decisions(shared, decide),
    async close() {
      health.close();
      redis.disconnect();
    },
  };
}

/**
 * Creates the functions that decide whether a request is within its rate limits. When the rate limiter has refused a
 * client, the process remembers the refusal for a few seconds, and refuses the client's next requests without a call to
 * Redis.
 */
function decisions(
  windows: RollingLimiter,
  decide: (subject: RateLimitSubject, state: WindowState) => RateLimitDecision,
): Pick<RateLimiter, 'consume' | 'consumeWhole' | 'refusal' | 'read'> {
  const refusals = new RememberedRefusals();
  return {
    async consume(subject) {
      const remembered = refusals.find(subject);
      if (remembered) return decide(subject, remembered);
      const askedAt = performance.now();
      const state = await windows.take(subject, 1);
      if (!state.allowed) refusals.remember(subject, state, askedAt);
      return decide(subject, state);
    },
    async consumeWhole(subject, points, consumedAtMs) {
      const state = await windows.take(subject, points, consumedAtMs);
      // When the limiter refuses a request that costs several rate limit points, the limiter refunds the point that the
      // request has already used. The limiter stores refusals in a cache. It removes the refusal of this client from
      // the cache, because another request of the client may use the refunded point.
      if (!state.allowed) refusals.forget(subject);
      return decide(subject, state);
    },
    refusal(subject) {
      const remembered = refusals.find(subject);
      return remembered && decide(subject, remembered);
    },
    read: async (subject) => decide(subject, refusals.find(subject) ?? (await windows.take(subject, 0))),
  };
}

/**
 * Converts the state of both rate limit windows to a decision: whether a request is allowed, with the values for the
 * response headers.
 */
function decision(
  { hourlyLimit, burstLimit }: RateLimitSubject,
  { allowed, retryAfterMs, nowMs, hour, burst }: WindowState,
  { windowSeconds, burstWindowSeconds }: RateLimitWindows,
): RateLimitDecision {
  const windowOf = ({ used, resetAtMs }: WindowCount, limit: number) => ({
    limit,
    remaining: Math.max(limit - used, 0),
    resetAt: new Date(resetAtMs),
    resetSeconds: Math.max(Math.ceil((resetAtMs - nowMs) / 1000), 0),
  });
  return {
    allowed,
    decidedAtMs: nowMs,
    retryAfter: allowed ? 0 : Math.max(Math.ceil(retryAfterMs / 1000), 1),
    hour: { name: 'hour', windowSeconds, ...windowOf(hour, hourlyLimit) },
    burst: { name: 'burst', windowSeconds: burstWindowSeconds, ...windowOf(burst, burstLimit) },
  };
}

/**
 * Returns the rate limit headers of a response, such as `RateLimit`. The headers `X-RateLimit-*` describe the hourly
 * limit (docs/contract-keys.md#rate-limit). The headers `RateLimit-Policy` and `RateLimit` describe both rate limit
 * windows, each with its name (IETF draft-ietf-httpapi-ratelimit-headers). `Retry-After` is the number of seconds until
 * both rate limit windows allow the request (RFC 9110).
 */
export function rateLimitHeaders({
  allowed,
  retryAfter,
  hour,
  burst,
}: RateLimitDecision): Record<string, string> {
  const policyOf = ({ name, limit, windowSeconds }: RateLimitWindow) =>
    `"${name}";q=${limit};w=${windowSeconds}`;
  const stateOf = ({ name, remaining, resetSeconds }: RateLimitWindow) =>
    `"${name}";r=${remaining};t=${resetSeconds}`;
  const headers: Record<string, string> = {
    'X-RateLimit-Limit': String(hour.limit),
    'X-RateLimit-Remaining': String(allowed ? hour.remaining : 0),
    'X-RateLimit-Reset': String(Math.ceil(hour.resetAt.getTime() / 1000)),
    'RateLimit-Policy': `${policyOf(hour)}, ${policyOf(burst)}`,
    RateLimit: `${stateOf(hour)}, ${stateOf(burst)}`,
  };
  if (!allowed) headers['Retry-After'] = String(retryAfter);
  return headers;
}
