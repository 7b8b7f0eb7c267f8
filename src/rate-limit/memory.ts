import { LRUCache } from 'lru-cache';
import { RateLimiterCompatibleAbstract } from 'rate-limiter-flexible';
import { RollingRes, takeFrom } from './rolling-res.ts';
import type {
  RateLimitSubject,
  RateLimitWindows,
  RollingLimiter,
  WindowCount,
  WindowState,
} from './types.ts';

/**
 * The maximum number of API keys and of client addresses whose windows a process keeps in memory. When the memory is
 * full, the least recently used windows are removed first.
 */
const maxSubjectsOfKind = { key: 100_000, address: 100_000 };

/**
 * For each of the two windows of one key or address: the times at which its points were used, oldest first, in Unix
 * milliseconds.
 */
interface Times {
  hour: number[];
  burst: number[];
}

/**
 * The rate limit windows in the memory of one process. The windows follow the same rules as the script of
 * `RedisRollingLimiter`. The class extends a class of rate-limiter-flexible, because the Redis limiter uses it as its
 * fallback ("insurance limiter") while Redis is unreachable.
 */
export class MemoryRollingLimiter extends RateLimiterCompatibleAbstract implements RollingLimiter {
  // rate-limiter-flexible requires these members of a fallback limiter, but calls only `consume`.
  override readonly keyPrefix = '';
  override blockDuration = 0;
  override execEvenly = false;
  readonly #timesOfKind = {
    key: new LRUCache<string, Times>({ max: maxSubjectsOfKind.key }),
    address: new LRUCache<string, Times>({ max: maxSubjectsOfKind.address }),
  };
  readonly #windowMs: number;
  readonly #burstWindowMs: number;
  readonly #now: () => number;

  constructor({ windowSeconds, burstWindowSeconds }: RateLimitWindows, now: () => number = Date.now) {
    super();
    this.#windowMs = windowSeconds * 1000;
    this.#burstWindowMs = burstWindowSeconds * 1000;
    this.#now = now;
  }

  take(subject: RateLimitSubject, points: number): Promise<WindowState> {
    return takeFrom(this, subject, points);
  }

  /**
   * rate-limiter-flexible calls this method while Redis is unreachable. The options contain the API key or the client
   * address.
   */
  override async consume(_key: string, points: number, subject: RateLimitSubject): Promise<RollingRes> {
    const res = new RollingRes(this.#count(subject, points));
    if (!res.state.allowed) throw res;
    return res;
  }

  #count({ kind, id, hourlyLimit, burstLimit }: RateLimitSubject, points: number): WindowState {
    const now = this.#now();
    const subjects = this.#timesOfKind[kind];
    const times = subjects.get(id) ?? { hour: [], burst: [] };
    dropBefore(times.hour, now - this.#windowMs);
    dropBefore(times.burst, now - this.#burstWindowMs);

    const retryAfterMs = Math.max(
      waitFor(times.hour, points, hourlyLimit, now, this.#windowMs),
      waitFor(times.burst, points, burstLimit, now, this.#burstWindowMs),
    );
    if (retryAfterMs === 0) {
      for (let point = 0; point < points; point += 1) {
        times.hour.push(now);
        times.burst.push(now);
      }
    }
    if (times.hour.length > 0) subjects.set(id, times);
    else subjects.delete(id);
    this.#forgetOneQuiet(subjects, now);
    return {
      allowed: retryAfterMs === 0,
      retryAfterMs,
      nowMs: now,
      hour: windowCount(times.hour, now, this.#windowMs),
      burst: windowCount(times.burst, now, this.#burstWindowMs),
    };
  }

  /**
   * Removes the windows of the least recently used key or address if all their points have expired. The function is
   * called for each new key or address, so at least as many windows are removed as are added.
   */
  #forgetOneQuiet(subjects: LRUCache<string, Times>, now: number): void {
    for (const id of subjects.rkeys()) {
      const newest = subjects.peek(id)?.hour.at(-1) ?? 0;
      if (newest <= now - this.#windowMs) subjects.delete(id);
      return;
    }
  }
}

/** Removes the times of the points that are older than the window. */
function dropBefore(times: number[], start: number): void {
  const firstCounted = times.findIndex((time) => time > start);
  times.splice(0, firstCounted === -1 ? times.length : firstCounted);
}

/**
 * Returns the number of milliseconds until a window has room for the points. If the limit of the window is lower than
 * the number of points, the result is the length of the window.
 */
function waitFor(times: number[], points: number, limit: number, now: number, lengthMs: number): number {
  if (points > limit) return lengthMs;
  // This is the newest of the points that must leave the window first. It is undefined when the window has room now.
  const mustLeave = times[times.length + points - limit - 1];
  return mustLeave === undefined ? 0 : Math.max(mustLeave + lengthMs - now, 0);
}

function windowCount(times: number[], now: number, lengthMs: number): WindowCount {
  return { used: times.length, resetAtMs: times[0] === undefined ? now : times[0] + lengthMs };
}
