import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { withFallback } from './limiter-fallback.ts';
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
  /** Unix milliseconds of the decision, by the clock that the windows go by. */
  nowMs: number;
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
  if (!redis) {
    return {
      backend: 'memory',
      consume: async (subject, points = 1) => decision(subject, await memory.take(subject, points)),
      close: async () => undefined,
    };
  }

  const shared = withFallback(redis, new RedisRollingLimiter(redis, options), memory, log);
  const refusals = new LRUCache<string, Refusal>({ max: mostRememberedRefusals });
  return {
    get backend() {
      return shared.backend;
    },
    async consume(subject, points = 1) {
      // Only time can free a full window: until then a refusal needs no further question.
      const id = `${subject.id} ${points} ${subject.hourlyLimit} ${subject.burstLimit}`;
      const asked = performance.now();
      const refusal = refusals.get(id);
      if (refusal && asked < refusal.until) {
        const retryAfterMs = refusal.state.retryAfterMs - (asked - refusal.answered);
        return decision(subject, { ...refusal.state, retryAfterMs });
      }
      const state = await shared.take(subject, points);
      if (!state.allowed) {
        const unchangedFor = Math.min(
          state.retryAfterMs,
          state.resetAtMs - state.nowMs,
          longestRememberedRefusal,
        );
        refusals.set(id, { state, answered: performance.now(), until: asked + unchangedFor });
      }
      return decision(subject, state);
    },
    async close() {
      shared.close();
      redis.disconnect();
    },
  };
}

/** A refusal that is repeated from memory; the moments are of `performance.now()`. */
interface Refusal {
  state: WindowState;
  answered: number;
  /** When the answer may be another one. */
  until: number;
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
