import type { AuthenticatedKey } from '../../auth/key.ts';
import { rateLimitExceeded } from '../../errors/error-table.ts';
import type { RateLimiter, RateLimitSubject } from '../../rate-limit/types.ts';
import type { RequestState } from '../request-state.ts';

/** Returns the rate limit that applies to requests of an API key. */
export function keySubject(
  key: Pick<AuthenticatedKey, 'id' | 'hourlyLimit' | 'burstLimit'>,
): RateLimitSubject {
  return { kind: 'key', id: key.id, hourlyLimit: key.hourlyLimit, burstLimit: key.burstLimit };
}

/**
 * Subtracts points from the rate limit of a client, and stores the new state of the rate limit for the headers of the
 * response.
 *
 * @throws {ServiceError} `RATE_LIMIT_EXCEEDED`
 */
export async function charge(
  limiter: RateLimiter,
  state: RequestState,
  subject: RateLimitSubject,
  points = 1,
): Promise<void> {
  state.decision = await limiter.consume(subject, points);
  if (!state.decision.allowed) throw rateLimitExceeded;
}
