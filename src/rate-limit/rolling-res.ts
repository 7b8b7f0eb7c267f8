import { type RateLimiterLike, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimitSubject, WindowState } from './types.ts';

/** A result of rate-limiter-flexible that also contains the state of both rate limit windows. */
export class RollingRes extends RateLimiterRes {
  readonly state: WindowState;

  constructor(state: WindowState) {
    // A result with `Infinity` points marks a refused request, because rate-limiter-flexible refuses a request when the
    // consumed points exceed the limit.
    super(0, state.retryAfterMs, state.allowed ? state.hour.used : Infinity);
    this.state = state;
  }
}

/** The options that `takeFrom` passes through rate-limiter-flexible to `MemoryRollingLimiter` and `RedisRollingLimiter`. */
export interface TakeOptions extends RateLimitSubject {
  /** See `RollingLimiter.take`. */
  replacedAtMs: number | undefined;
}

/**
 * Consumes points with a limiter of rate-limiter-flexible, and returns a result for both allowed and refused requests.
 * In contrast, rate-limiter-flexible itself reports a refused request as a rejected promise.
 *
 * @throws when the rate limiter fails. A refused request is not an error, so the function does not throw
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
