import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { MemoryRollingLimiter } from './limiter-memory.ts';
import { RedisRollingLimiter } from './limiter-redis.ts';

/** Whose budget a request draws on. */
export interface RateLimitSubject {
  id: string;
  /** Points in the hourly window. */
  hourlyLimit: number;
  /** Points in the burst window. */
  burstLimit: number;
}

/** What the limiter says to a request, and what its headers tell (specification, "Limits"). */
export interface RateLimitDecision {
  allowed: boolean;
  /** The hourly limit. */
  limit: number;
  /** What the hourly window still allows; 0 when refused. */
  remaining: number;
  /** Unix seconds at which the oldest counted point leaves the hourly window; now when there is none. */
  resetAt: number;
  /** Whole seconds until these points would pass; 0 when allowed. */
  retryAfter: number;
}

/** The lengths of the two rolling windows, in seconds. */
export interface RateLimitWindows {
  windowSeconds: number;
  burstWindowSeconds: number;
}

/** What a rolling window counted: the part of a decision that does not depend on who asks. */
export interface WindowState {
  allowed: boolean;
  /** Points in the hourly window, those of this request included when they passed. */
  used: number;
  /** Unix milliseconds at which the oldest counted point leaves the hourly window; now when there is none. */
  resetAtMs: number;
  /** Milliseconds until these points would pass; 0 when allowed. */
  retryAfterMs: number;
}

/** Counts points in two rolling windows, all or none of a request's points at once. */
export interface RollingLimiter {
  take(subject: RateLimitSubject, points: number): Promise<WindowState>;
}

/** Decides whether requests may pass. Never fails, and never lets everything pass. */
export interface RateLimiter {
  consume(subject: RateLimitSubject, points?: number): Promise<RateLimitDecision>;
  /** Who decides now; `fallback` is a budget for each process while Redis does not answer. */
  readonly backend: 'redis' | 'memory' | 'fallback';
  close(): Promise<void>;
}

/** How long Redis is left alone after it did not answer, in milliseconds. */
const retryRedisAfter = 1000;
/** How long a refusal is repeated without asking, in milliseconds, at most. */
const longestRememberedRefusal = 5000;
const mostRememberedRefusals = 10_000;

/**
 * Creates the limiter of one process: exact rolling windows in Redis, shared by every process, or in
 * this process when there is no Redis.
 */
export function createRateLimiter(
  options: RateLimitWindows & { redis: Redis | undefined; log: Logger },
): RateLimiter {
  const { redis, log } = options;
  const memory = new MemoryRollingLimiter(options);
  const shared = redis && new RedisRollingLimiter(redis, options);
  const refusals = new LRUCache<string, WindowState & { until: number }>({ max: mostRememberedRefusals });
  let redisDownUntil = 0;
  let fallenBack = false;
  redis?.on('ready', () => (redisDownUntil = 0));

  async function take(subject: RateLimitSubject, points: number): Promise<WindowState> {
    if (!shared || performance.now() < redisDownUntil) return memory.take(subject, points);
    try {
      const state = await shared.take(subject, points);
      if (fallenBack) log.info('Redis answers again: limits are shared by all processes');
      fallenBack = false;
      return state;
    } catch (error) {
      if (!fallenBack) log.warn({ err: error }, 'Redis does not answer: each process limits on its own');
      fallenBack = true;
      redisDownUntil = performance.now() + retryRedisAfter;
      return memory.take(subject, points);
    }
  }

  return {
    get backend() {
      if (!shared) return 'memory';
      return fallenBack ? 'fallback' : 'redis';
    },
    async consume(subject, points = 1) {
      // Only time can free a full window: until then a refusal needs no further question.
      const id = `${subject.id} ${points} ${subject.hourlyLimit} ${subject.burstLimit}`;
      const now = performance.now();
      const remembered = refusals.get(id);
      if (remembered && now < remembered.until) {
        return decision(subject, { ...remembered, retryAfterMs: remembered.until - now });
      }
      const state = await take(subject, points);
      if (!state.allowed && state.retryAfterMs <= longestRememberedRefusal) {
        refusals.set(id, { ...state, until: now + state.retryAfterMs });
      }
      return decision(subject, state);
    },
    async close() {
      redis?.disconnect();
    },
  };
}

function decision({ hourlyLimit }: RateLimitSubject, state: WindowState): RateLimitDecision {
  return {
    allowed: state.allowed,
    limit: hourlyLimit,
    remaining: state.allowed ? Math.max(hourlyLimit - state.used, 0) : 0,
    resetAt: Math.ceil(state.resetAtMs / 1000),
    retryAfter: state.allowed ? 0 : Math.max(Math.ceil(state.retryAfterMs / 1000), 1),
  };
}

/** The headers of every response (specification, "Limits"; `Retry-After`: RFC 9110). */
export function rateLimitHeaders(decided: RateLimitDecision): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(decided.limit),
    'X-RateLimit-Remaining': String(decided.remaining),
    'X-RateLimit-Reset': String(decided.resetAt),
    ...(!decided.allowed && { 'Retry-After': String(decided.retryAfter) }),
  };
}
