import { type RateLimiterLike, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimitSubject, WindowState } from './types.ts';

/** A result of rate-limiter-flexible that also has the state of both windows. */
export class RollingRes extends RateLimiterRes {
  readonly state: WindowState;

  constructor(state: WindowState) {
    // rate-limiter-flexible refuses a request that consumes more points than the limiter has. `Infinity` points
    // therefore mark a refused request.
    super(0, state.retryAfterMs, state.allowed ? state.hour.used : Infinity);
    this.state = state;
  }
}

/**
 * Takes points with a limiter of rate-limiter-flexible, and returns a result for both allowed and refused requests. The
 * library itself reports a refusal as a rejected promise.
 *
 * @throws the errors of the limiter that are not refusals
 */
export async function takeFrom(
  limiter: RateLimiterLike,
  subject: RateLimitSubject,
  points: number,
): Promise<WindowState> {
  const res = await limiter
    .consume(`${subject.kind}:${subject.id}`, points, { ...subject })
    .catch((refusal: unknown) => {
      if (refusal instanceof RollingRes) return refusal;
      throw refusal;
    });
  return (res as RollingRes).state;
}
