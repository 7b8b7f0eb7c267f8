import type { Logger } from 'pino';
import type { ErrorCode } from '../../errors/error-table.ts';
import { rateLimitExceeded } from '../../errors/error-table.ts';
import type { RateLimiter, RateLimitSubject } from '../../rate-limit/types.ts';
import { charge } from './charge.ts';
import { clientOf } from './client-address.ts';
import type { RequestState } from '../request-state.ts';

/**
 * The rate limits of requests without a valid key, for each client address. The limits equal the default limits of a
 * key.
 */
const addressLimits = { hourlyLimit: 1000, burstLimit: 100 };
/** How often the log reports the number of refused requests of unauthenticated clients, in milliseconds. */
const summaryIntervalMs = 60_000;
/** The `Retry-After` in seconds for a client that already has too many key look-ups in progress. */
const lookUpRetrySeconds = 1;

/** The rate limit subject of a request without a valid key. */
export const addressSubject = (address: string): RateLimitSubject => ({
  kind: 'address',
  id: clientOf(address),
  ...addressLimits,
});

/** The clients that have sent no valid key. */
export interface UnauthenticatedClients {
  /**
   * Looks up an unknown secret if the client's address has enough points left to pay for a failure. Only an invalid
   * secret is charged; the look-up itself takes no points. Concurrent requests with the same secret count as one
   * look-up.
   *
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED`, without the look-up
   */
  lookUp<Found>(
    state: RequestState,
    secret: string | undefined,
    run: () => Found | Promise<Found>,
  ): Promise<Found>;
  /**
   * Counts a refusal. The log reports only the count, once a minute, because a line or a row for each refusal could
   * fill the disk.
   */
  countRefusal(code: ErrorCode): void;
}

/** Creates the functions that limit and count the unauthenticated clients of one process. */
export function createUnauthenticatedClients({
  limiter,
  log,
}: {
  limiter: RateLimiter;
  log: Logger;
}): UnauthenticatedClients {
  /**
   * The look-ups in progress. For each client, the map has the number of requests for each secret. A look-up ends
   * within the time limit of the database.
   */
  const lookUps = new Map<string, Map<string | undefined, number>>();
  const refusals = new Map<ErrorCode, number>();
  let summary: NodeJS.Timeout | undefined;

  /**
   * Changes the number of requests that wait for the look-up of a secret, and returns how many different secrets of the
   * client are being looked up.
   */
  function changeLookUps(client: string, secret: string | undefined, change: 1 | -1): number {
    const secrets = lookUps.get(client) ?? new Map<string | undefined, number>();
    const requests = (secrets.get(secret) ?? 0) + change;
    if (requests > 0) secrets.set(secret, requests);
    else secrets.delete(secret);
    if (secrets.size > 0) lookUps.set(client, secrets);
    else lookUps.delete(client);
    return secrets.size;
  }

  return {
    async lookUp(state, secret, run) {
      const subject = addressSubject(state.address);
      const running = changeLookUps(subject.id, secret, 1);
      try {
        const decision = await limiter.read(subject);
        const remaining = Math.min(decision.hour.remaining, decision.burst.remaining);
        // A charge that is refused takes no points, but the limiter caches the refusal.
        if (remaining === 0) await charge(limiter, state, subject);
        if (remaining < running) {
          state.decision = { ...decision, allowed: false, retryAfter: lookUpRetrySeconds };
          throw rateLimitExceeded;
        }
        return await run();
      } finally {
        changeLookUps(subject.id, secret, -1);
      }
    },
    countRefusal(code) {
      refusals.set(code, (refusals.get(code) ?? 0) + 1);
      summary ??= setTimeout(() => {
        log.warn(
          { refused: Object.fromEntries(refusals), seconds: summaryIntervalMs / 1000 },
          'requests without a valid key were refused',
        );
        refusals.clear();
        summary = undefined;
      }, summaryIntervalMs).unref();
    },
  };
}
