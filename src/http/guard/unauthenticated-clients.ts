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
/** How often the log reports the number of refused requests without a valid API key, in milliseconds. */
const summaryIntervalMs = 60_000;
/** The `Retry-After` in seconds for a client that has too many look-ups of API keys in progress. */
const lookUpRetrySeconds = 1;

/** Returns the rate limit that applies to requests without a valid API key from an address. */
export const addressSubject = (address: string): RateLimitSubject => ({
  kind: 'address',
  id: clientOf(address),
  ...addressLimits,
});

/** Limits and counts the requests without a valid API key. */
export interface UnauthenticatedClients {
  /**
   * Looks up a secret that this process does not know. The look-up runs only if the client's address has enough rate
   * limit points left to pay for an invalid secret. Points are taken only if the secret is invalid. Concurrent requests
   * with the same secret count as one look-up.
   *
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED`, without the look-up
   */
  lookUp<Found>(
    state: RequestState,
    secret: string | undefined,
    run: () => Found | Promise<Found>,
  ): Promise<Found>;
  /**
   * Counts a refused request. Once a minute, the log reports the number of refused requests. A log line or a database
   * row for each refused request could fill the disk.
   */
  countRefusal(code: ErrorCode): void;
}

/** Creates the functions that limit and count requests without a valid API key in one process. */
export function createUnauthenticatedClients({
  limiter,
  log,
}: {
  limiter: RateLimiter;
  log: Logger;
}): UnauthenticatedClients {
  /**
   * The look-ups of API keys in progress. For each client, the map has the number of waiting requests for each secret.
   * Each look-up ends within the time limit of the database.
   */
  const lookUps = new Map<string, Map<string | undefined, number>>();
  const refusals = new Map<ErrorCode, number>();
  let summary: NodeJS.Timeout | undefined;

  /**
   * Changes the number of requests that wait for the look-up of a secret. Returns how many different secrets of the
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
        // When the rate limit is exhausted, `charge` takes no points, but lets the limiter cache the refusal.
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
