import type { AuthenticatedKey } from '../../auth/key.ts';
import { rateLimitExceeded, ServiceError } from '../../errors/error-table.ts';
import type { RateLimiter, RateLimitSubject } from '../../rate-limit/types.ts';
import type { RequestState } from '../request-state.ts';

/** Returns the rate limit that applies to requests of an API key. */
export function keySubject(
  key: Pick<AuthenticatedKey, 'id' | 'hourlyLimit' | 'burstLimit'>,
): RateLimitSubject {
  return { kind: 'key', id: key.id, hourlyLimit: key.hourlyLimit, burstLimit: key.burstLimit };
}

/**
 * Subtracts one point from the rate limit of a client, and stores the new state of the rate limit, so that the gateway
 * can send it in the headers of the response.
 *
 * @throws {ServiceError} `RATE_LIMIT_EXCEEDED`
 */
export async function charge(
  limiter: RateLimiter,
  state: RequestState,
  subject: RateLimitSubject,
): Promise<void> {
  state.decision = await limiter.consume(subject);
  if (!state.decision.allowed) throw rateLimitExceeded;
}

/**
 * If a request costs several points, subtracts all these points from the rate limit of the client. `points` is the cost
 * of the whole request, including the point that `charge` has already subtracted for this request. If the client has
 * too few rate limit points left for the whole request, the request costs no points. `chargeWhole` stores the new state
 * of the rate limit, so that the gateway can send it in the headers of the response.
 *
 * @throws {ServiceError} `RATE_LIMIT_EXCEEDED`, or `VALIDATION_ERROR` when the request costs more points than a rate
 *   limit of the client ever allows
 */
export async function chargeWhole(
  limiter: RateLimiter,
  state: RequestState,
  subject: RateLimitSubject,
  points: number,
): Promise<void> {
  const limit = Math.min(subject.hourlyLimit, subject.burstLimit);
  if (points > limit) {
    throw new ServiceError(
      'VALIDATION_ERROR',
      `Request costs ${points} points; the rate limit of the API key allows at most ${limit}. Send a smaller request, or ask for a higher rate limit.`,
    );
  }
  state.decision = await limiter.consumeWhole(subject, points, state.decision?.decidedAtMs);
  if (!state.decision.allowed) throw rateLimitExceeded;
}
