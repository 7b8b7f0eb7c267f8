import { LRUCache } from 'lru-cache';
import type { RateLimitSubject, RateLimitWindows, RollingLimiter, WindowState } from './limiter.ts';

/** How many subjects are remembered; whoever was quiet longest is forgotten first. */
const mostSubjects = 100_000;

/** The rolling windows of one process: the same arithmetic as the script of `RedisRollingLimiter`. */
export class MemoryRollingLimiter implements RollingLimiter {
  /** The times of the counted points of each subject, oldest first, in Unix milliseconds. */
  readonly #times = new LRUCache<string, number[]>({ max: mostSubjects });
  readonly #window: number;
  readonly #burstWindow: number;
  readonly #now: () => number;

  constructor({ windowSeconds, burstWindowSeconds }: RateLimitWindows, now: () => number = Date.now) {
    this.#window = windowSeconds * 1000;
    this.#burstWindow = burstWindowSeconds * 1000;
    this.#now = now;
  }

  async take({ id, hourlyLimit, burstLimit }: RateLimitSubject, points: number): Promise<WindowState> {
    const now = this.#now();
    const times = this.#times.get(id) ?? [];
    const firstCounted = times.findIndex((time) => time > now - this.#window);
    times.splice(0, firstCounted === -1 ? times.length : firstCounted);

    const hourlyWait = waitFor(
      times[times.length + points - hourlyLimit - 1],
      points > hourlyLimit,
      now,
      this.#window,
    );
    const burstWait = waitFor(
      times[times.length + points - burstLimit - 1],
      points > burstLimit,
      now,
      this.#burstWindow,
    );
    const retryAfterMs = Math.max(hourlyWait, burstWait);
    if (retryAfterMs === 0) for (let point = 0; point < points; point += 1) times.push(now);
    this.#times.set(id, times);
    this.#forgetOneQuiet(now);
    return {
      allowed: retryAfterMs === 0,
      used: times.length,
      nowMs: now,
      resetAtMs: times[0] === undefined ? now : times[0] + this.#window,
      retryAfterMs,
    };
  }

  /** Drops whoever was quiet longest, if nothing of theirs still counts: one out for each that may come in. */
  #forgetOneQuiet(now: number): void {
    for (const id of this.#times.rkeys()) {
      const newest = this.#times.peek(id)?.at(-1) ?? 0;
      if (newest <= now - this.#window) this.#times.delete(id);
      return;
    }
  }
}

/**
 * How long until a window has room, in milliseconds.
 *
 * @param inTheWay the time of the newest point that must leave first; undefined when there is room
 * @param neverFits more points than the window ever holds: told to come back after a whole window
 */
function waitFor(inTheWay: number | undefined, neverFits: boolean, now: number, window: number): number {
  if (neverFits) return window;
  return inTheWay === undefined ? 0 : Math.max(inTheWay + window - now, 0);
}
