import { type RateLimiterLike, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimitSubject, WindowState } from './types.ts';

/** What rate-limiter-flexible passes around, with the state of both windows on it. */
export class RollingRes extends RateLimiterRes {
  readonly state: WindowState;

  constructor(state: WindowState) {
    // The library refuses when more points are consumed than a limiter has; no limiter has Infinity.
    super(0, state.retryAfterMs, state.allowed ? state.hour.used : Infinity);
    this.state = state;
  }
}

/**
 * Takes points by way of a limiter of rate-limiter-flexible, which resolves what passes and rejects what does not.
 *
 * @throws what the limiter throws besides its refusals
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
