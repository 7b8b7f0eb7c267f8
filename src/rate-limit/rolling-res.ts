import { type RateLimiterLike, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimitSubject, WindowState } from './types.ts';

/** A result of the library rate-limiter-flexible, extended with the state of both rate limit windows. */
export class RollingRes extends RateLimiterRes {
  readonly state: WindowState;

  constructor(state: WindowState) {
    // The library rate-limiter-flexible refuses a request if the consumed points exceed the limit. For a refused
    // request, the consumed points are therefore `Infinity`, which exceeds every limit.
    super(0, state.retryAfterMs, state.allowed ? state.hour.used : Infinity);
    this.state = state;
  }
}

/**
 * The options for `MemoryRollingLimiter` and `RedisRollingLimiter`. `takeFrom` passes the options to the package
 * rate-limiter-flexible, and the package passes the options to the rate limiter.
 */
export interface TakeOptions extends RateLimitSubject {
  /** See `RollingLimiter.take`. */
  replacedAtMs: number | undefined;
}

/**
 * Uses up rate limit points of an API key or client address, through a rate limiter of the library
 * rate-limiter-flexible. For a refused request, the library rate-limiter-flexible rejects its promise, but `takeFrom`
 * returns a result.
 *
 * @throws when the rate limiter fails. If the rate limiter refuses the request, the function does not throw, because a
 *   refusal is not an error
 */
export async function takeFrom(
  limiter: RateLimiterLike,
  subject: RateLimitSubject,
  points: number,
  replacedAtMs: number | undefined,
): Promise<WindowState> {
  const options: TakeOptions = { ...subject, replacedAtMs };
  const res = await limiter
    .consume(`${subject.kind}:${subject.id}`, points, options)
    .catch((refusal: unknown) => {
      if (refusal instanceof RollingRes) return refusal;
      throw refusal;
    });
  return (res as RollingRes).state;
}
