import { LRUCache } from 'lru-cache';
import { RateLimiterCompatibleAbstract } from 'rate-limiter-flexible';
import { RollingRes, takeFrom, type TakeOptions } from './rolling-res.ts';
import type {
  RateLimitSubject,
  RateLimitWindows,
  RollingLimiter,
  WindowCount,
  WindowState,
} from './types.ts';

/**
 * The maximum number of API keys, and the maximum number of client addresses, for which a process keeps rate limit
 * windows in memory. When the number of API keys or client addresses reaches its maximum, the process removes the least
 * recently used rate limit windows.
 */
const maxSubjectsOfKind = { key: 100_000, address: 100_000 };

/**
 * The times at which one API key or client address used rate limit points, for each of the two rate limit windows. The
 * times are in Unix milliseconds, and are sorted from the oldest to the newest.
 */
interface Times {
  hour: number[];
  burst: number[];
}

/**
 * The rate limit windows in the memory of one process. The rate limit windows in memory follow the same rules as the
 * Redis script of `RedisRollingLimiter`. While Redis is unreachable, the Redis limiter uses `MemoryRollingLimiter` as
 * its fallback ("insurance limiter"). The library rate-limiter-flexible accepts a fallback limiter only if the limiter
 * extends one of the library's classes.
 */
export class MemoryRollingLimiter extends RateLimiterCompatibleAbstract implements RollingLimiter {
  // The TypeScript types of rate-limiter-flexible require the fields `keyPrefix`, `blockDuration` and `execEvenly`. The
  // library does not use `keyPrefix`, `blockDuration` and `execEvenly` of a fallback limiter, because it calls only the
  // limiter's method `consume`.
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

  take(subject: RateLimitSubject, points: number, replacedAtMs?: number): Promise<WindowState> {
    return takeFrom(this, subject, points, replacedAtMs);
  }

  /**
   * Counts the rate limit points of a request; rate-limiter-flexible calls this method while Redis is unreachable. The
   * parameter `options` contains the API key or client address whose rate limit points the method counts.
   */
  override async consume(_key: string, points: number, options: TakeOptions): Promise<RollingRes> {
    const res = new RollingRes(this.#count(options, points));
    if (!res.state.allowed) throw res;
    return res;
  }

  #count({ kind, id, hourlyLimit, burstLimit, replacedAtMs }: TakeOptions, points: number): WindowState {
    const now = this.#now();
    const subjects = this.#timesOfKind[kind];
    const times = subjects.get(id) ?? { hour: [], burst: [] };
    dropBefore(times.hour, now - this.#windowMs);
    dropBefore(times.burst, now - this.#burstWindowMs);
    if (replacedAtMs !== undefined) {
      giveBack(times.hour, replacedAtMs);
      giveBack(times.burst, replacedAtMs);
    }

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
   * Removes the rate limit windows of the least recently used API key or client address, if all points in these windows
   * have expired. The limiter calls this method for each request, so that expired rate limit windows do not accumulate
   * in memory.
   */
  #forgetOneQuiet(subjects: LRUCache<string, Times>, now: number): void {
    for (const id of subjects.rkeys()) {
      const newest = subjects.peek(id)?.hour.at(-1) ?? 0;
      if (newest <= now - this.#windowMs) subjects.delete(id);
      return;
    }
  }
}

/** Removes the times of rate limit points that were used before the start of the rate limit window. */
function dropBefore(times: number[], start: number): void {
  const firstCounted = times.findIndex((time) => time > start);
  times.splice(0, firstCounted === -1 ? times.length : firstCounted);
}

/**
 * When a rate limit point is refunded, removes the time at which this point was used (`usedAtMs`) from the list
 * `times`. If the refunded point is already too old for the rate limit window, `times` no longer contains its time, and
 * the function changes nothing.
 */
function giveBack(times: number[], usedAtMs: number): void {
  const index = times.lastIndexOf(usedAtMs);
  if (index !== -1) times.splice(index, 1);
}

/**
 * Returns how long a request must wait until a rate limit window has enough unused points, in milliseconds. If a
 * request costs more points than the limit of the rate limit window, the result is the length of the window.
 */
function waitFor(times: number[], points: number, limit: number, now: number, lengthMs: number): number {
  if (points > limit) return lengthMs;
  // `mustLeave` is the time at which an earlier rate limit point was used. The request must wait until this point has
  // left the rate limit window. If the rate limit window already has enough unused points for the request, `mustLeave`
  // is `undefined`.
  const mustLeave = times[times.length + points - limit - 1];
  return mustLeave === undefined ? 0 : Math.max(mustLeave + lengthMs - now, 0);
}

function windowCount(times: number[], now: number, lengthMs: number): WindowCount {
  return { used: times.length, resetAtMs: times[0] === undefined ? now : times[0] + lengthMs };
}
