import { LRUCache } from 'lru-cache';
import type { RateLimitSubject, WindowState } from './types.ts';

/** The maximum time for which a cached refusal is repeated, in milliseconds. */
const maxRepeatedMs = 5000;
/**
 * The maximum number of cached refusals for API keys. The same maximum applies to the refusals for client addresses.
 */
const maxRefusalsOfKind = 10_000;

/** A cached refusal. All times in a cached refusal come from the monotonic clock (`performance.now()`). */
interface Refusal {
  state: WindowState;
  answeredAt: number;
  /** The time at which the cached refusal expires. */
  endsAt: number;
}

/**
 * A cache of requests that the rate limiter refused. While an API key or address has too few points left, the process
 * refuses its requests without a call to Redis. The cache of rate-limiter-flexible (`inMemoryBlockOnConsumed`) is not
 * sufficient, because it supports only one limit, and only requests that cost one point. That cache also cannot provide
 * rate limit headers. The cache of rate-limiter-flexible would also refuse a cheaper request that the window allows,
 * and requests after the limit was raised.
 */
export class RememberedRefusals {
  readonly #refusalsOfKind = {
    key: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
    address: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
  };

  /**
   * Returns the cached refusal for a request, with current waiting times. Returns `undefined` when no refusal is cached
   * for the request.
   */
  find(subject: RateLimitSubject, points: number): WindowState | undefined {
    const now = performance.now();
    const refusal = this.#refusalsOfKind[subject.kind].get(nameOf(subject, points));
    if (!refusal || now >= refusal.endsAt) return undefined;
    const elapsedMs = now - refusal.answeredAt;
    const { state } = refusal;
    return { ...state, retryAfterMs: state.retryAfterMs - elapsedMs, nowMs: state.nowMs + elapsedMs };
  }

  /**
   * Caches a refusal until the oldest used point leaves one of the two rate limit windows, but for at most
   * `maxRepeatedMs`.
   *
   * @param askedAt the time of the request by `performance.now()`
   */
  remember(subject: RateLimitSubject, points: number, state: WindowState, askedAt: number): void {
    const unchangedMs = Math.min(
      state.retryAfterMs,
      ...[state.hour, state.burst]
        .filter(({ used }) => used > 0)
        .map((window) => window.resetAtMs - state.nowMs),
      maxRepeatedMs,
    );
    this.#refusalsOfKind[subject.kind].set(nameOf(subject, points), {
      state,
      answeredAt: performance.now(),
      endsAt: askedAt + unchangedMs,
    });
  }
}

const nameOf = ({ id, hourlyLimit, burstLimit }: RateLimitSubject, points: number) =>
  `${id} ${points} ${hourlyLimit} ${burstLimit}`;
