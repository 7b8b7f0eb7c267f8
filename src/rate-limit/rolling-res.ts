import { type RateLimiterLike, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimitSubject, WindowState } from './types.ts';

/** The result class of rate-limiter-flexible, extended by the state of both windows. */
export class RollingRes extends RateLimiterRes {
  readonly state: WindowState;

  constructor(state: WindowState) {
    // rate-limiter-flexible refuses a request that consumes more points than the limiter has. Infinity is more than any
    // limiter has.
    super(0, state.retryAfterMs, state.allowed ? state.hour.used : Infinity);
    this.state = state;
  }
}

/**
 * Takes points with a limiter of rate-limiter-flexible. The library resolves its promise for an allowed request and
 * rejects it for a refused request.
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
