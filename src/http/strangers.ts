import type { Logger } from 'pino';
import type { ErrorCode } from '../errors/error-table.ts';
import { rateLimitExceeded } from '../errors/error-table.ts';
import type { RateLimiter, RateLimitSubject } from '../rate-limit/types.ts';
import { charge } from './charge.ts';
import { clientOf } from './client-address.ts';
import type { RequestState } from './request-state.ts';

/** The budget of requests without a valid key, for each client address: that of a key by default. */
const addressLimits = { hourlyLimit: 1000, burstLimit: 100 };
/** How often the log tells how many strangers were refused, in milliseconds. */
const summaryIntervalMs = 60_000;
/** After how many seconds a client may come back whose look-ups are all under way. */
const lookUpRetrySeconds = 1;

/** Whose budget a request without a valid key draws on. */
export const addressSubject = (address: string): RateLimitSubject => ({
  kind: 'address',
  id: clientOf(address),
  ...addressLimits,
});

/** Clients that have shown no valid key. */
export interface Strangers {
  /**
   * Runs a look-up of an unknown secret if the client's address has budget left for it to fail. Takes nothing: only
   * a secret that turns out to be invalid is charged. Requests with the same secret at once count as one look-up.
   *
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED`, without the look-up
   */
  lookUp<Found>(
    state: RequestState,
    secret: string | undefined,
    run: () => Found | Promise<Found>,
  ): Promise<Found>;
  /** Counts a refusal; the log tells their number every minute, since a line or a row for each could fill a disk. */
  countRefusal(code: ErrorCode): void;
}

/** Creates what one process knows of strangers. */
export function createStrangers({ limiter, log }: { limiter: RateLimiter; log: Logger }): Strangers {
  /**
   * The look-ups under way: for each client its secrets, each with its requests. They end within the time limit of the
   * database.
   */
  const lookUps = new Map<string, Map<string | undefined, number>>();
  const refusals = new Map<ErrorCode, number>();
  let summary: NodeJS.Timeout | undefined;

  /** Counts a request of a look-up; returns how many secrets of the client are looked up. */
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
        // A refusal takes nothing, and the limiter remembers it.
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
