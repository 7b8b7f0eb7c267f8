import { LRUCache } from 'lru-cache';
import type { RateLimitSubject, WindowState } from './types.ts';

/** The maximum time for which the process repeats a cached refusal, in milliseconds. */
const maxRepeatedMs = 5000;
/** The maximum number of cached refusals for API keys, and also for client addresses. */
const maxRefusalsOfKind = 10_000;

/** A cached refusal. All times in a cached refusal come from the monotonic clock (`performance.now()`). */
interface Refusal {
  state: WindowState;
  answeredAt: number;
  /** The time at which the cached refusal expires. */
  endsAt: number;
}

/**
 * A cache of API keys and client addresses that have no rate limit point left. The process refuses the requests of a
 * cached API key or address without a call to Redis. The cache of rate-limiter-flexible (`inMemoryBlockOnConsumed`) is
 * not sufficient: it supports only one limit, provides no values for the rate limit headers, and would refuse requests
 * even after an operator raised the limit.
 */
export class RememberedRefusals {
  readonly #refusalsOfKind = {
    key: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
    address: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
  };

  /**
   * Returns the cached refusal of an API key or address, with current waiting times. Returns `undefined` when no refusal
   * is cached.
   */
  find(subject: RateLimitSubject): WindowState | undefined {
    const now = performance.now();
    const refusal = this.#refusalsOfKind[subject.kind].get(nameOf(subject));
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
  remember(subject: RateLimitSubject, state: WindowState, askedAt: number): void {
    const unchangedMs = Math.min(
      state.retryAfterMs,
      ...[state.hour, state.burst]
        .filter(({ used }) => used > 0)
        .map((window) => window.resetAtMs - state.nowMs),
      maxRepeatedMs,
    );
    this.#refusalsOfKind[subject.kind].set(nameOf(subject), {
      state,
      answeredAt: performance.now(),
      endsAt: askedAt + unchangedMs,
    });
  }

  /** Removes the cached refusal of an API key or address. */
  forget(subject: RateLimitSubject): void {
    this.#refusalsOfKind[subject.kind].delete(nameOf(subject));
  }
}

const nameOf = ({ id, hourlyLimit, burstLimit }: RateLimitSubject) => `${id} ${hourlyLimit} ${burstLimit}`;
