import type { Logger } from 'pino';
import { defaultLimits } from '../../auth/key.ts';
import type { ErrorCode } from '../../errors/error-table.ts';
import { rateLimitExceeded } from '../../errors/error-table.ts';
import type { RateLimiter, RateLimitSubject } from '../../rate-limit/types.ts';
import { charge } from './charge.ts';
import { clientOf } from './client-address.ts';
import type { RequestState } from '../request-state.ts';

/**
 * The interval, in milliseconds, at which the gateway logs how many requests without a valid API key it has refused.
 */
const summaryIntervalMs = 60_000;
/**
 * How many seconds a client must wait (`Retry-After`) when too many look-ups of API keys are already running for its
 * address.
 */
const lookUpRetrySeconds = 1;

/**
 * Returns the rate limits of a client address. These rate limits apply to all requests without a valid API key that
 * come from this client address, taken together. The rate limits of a client address are as high as the default rate
 * limits of an API key.
 */
export const addressSubject = (address: string): RateLimitSubject => ({
  kind: 'address',
  id: clientOf(address),
  ...defaultLimits,
});

/** Limits and counts the requests without a valid API key. */
export interface UnauthenticatedClients {
  /**
   * Looks up which API key has a given secret, if this process does not know the secret yet. The number of running
   * look-ups of a client address must not exceed the remaining rate limit points of this address. Each of these
   * look-ups may find that the secret is invalid, and each invalid secret costs the client address one rate limit
   * point. The look-up itself costs no rate limit points: the caller of `lookUp` subtracts one point only if the secret
   * is invalid. If several concurrent requests have the same secret, they count as only one look-up.
   *
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when the client address has too few rate limit points left; the
   *   gateway then does not look up the secret
   */
  lookUp<Found>(
    state: RequestState,
    secret: string | undefined,
    run: () => Found | Promise<Found>,
  ): Promise<Found>;
  /**
   * Counts a refused request without a valid API key. Once a minute, the gateway logs how many requests without a valid
   * API key it has refused. When the gateway refuses a request without a valid API key, it writes no usage record. For
   * a request that exceeds the rate limit of its client address, the gateway also writes no log line. If the gateway
   * wrote a usage record and a log line for each refused request, a client could fill the disk.
   */
  countRefusal(code: ErrorCode): void;
  /**
   * Logs how many requests without a valid API key the gateway has refused since the last such log line. The gateway
   * calls `logRefusals` when it stops.
   */
  logRefusals(): void;
}

/** Creates the functions with which one process limits and counts requests without a valid API key. */
export function createUnauthenticatedClients({
  limiter,
  log,
}: {
  limiter: RateLimiter;
  log: Logger;
}): UnauthenticatedClients {
  /**
   * The look-ups of API keys that are in progress. For each client and each secret, the map contains the number of
   * requests that wait for the look-up of this secret. The time limit for database queries also limits the time of a
   * look-up.
   */
  const lookUps = new Map<string, Map<string | undefined, number>>();
  const refusals = new Map<ErrorCode, number>();
  let summary: NodeJS.Timeout | undefined;
  let countedFrom = 0;

  function logRefusals(): void {
    if (refusals.size === 0) return;
    clearTimeout(summary);
    log.warn(
      {
        refused: Object.fromEntries(refusals),
        seconds: Math.round((performance.now() - countedFrom) / 1000),
      },
      'requests without a valid key were refused',
    );
    refusals.clear();
  }

  /**
   * Adds `change` to the number of a client's requests that wait until the gateway has looked up a secret. Returns how
   * many different secrets of this client the gateway is currently looking up.
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
        // If the client address has no rate limit points left, the function `charge` throws an error, and the rate
        // limiter keeps this refusal in its cache.
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
      if (refusals.size === 0) {
        countedFrom = performance.now();
        summary = setTimeout(logRefusals, summaryIntervalMs).unref();
      }
      refusals.set(code, (refusals.get(code) ?? 0) + 1);
    },
    logRefusals,
  };
}
