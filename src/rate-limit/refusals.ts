import { LRUCache } from 'lru-cache';
import type { RateLimitSubject, WindowState } from './types.ts';

/** The maximum time for which the process repeats a cached refusal, in milliseconds. */
const maxRepeatedMs = 5000;
/**
 * The maximum number of cached rate limit refusals of each kind. One kind refuses the requests of an API key, and the
 * other kind refuses the requests of a client address.
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
 * A cache of API keys and client addresses that have no rate limit point left. While the refusal of an API key or
 * client address is in the cache, the process immediately refuses each request of this API key or address, without a
 * call to Redis. The cache of rate-limiter-flexible (`inMemoryBlockOnConsumed`) is not sufficient, because it supports
 * only one limit. The cache of rate-limiter-flexible also provides no values for the rate limit headers. After an
 * operator has raised the rate limit of an API key, the cache of rate-limiter-flexible would still refuse the requests
 * of this key.
 */
export class RememberedRefusals {
  readonly #refusalsOfKind = {
    key: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
    address: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
  };

  /**
   * Returns the cached refusal of an API key or client address. The result contains the time for which the client must
   * still wait before it sends the next request. Returns `undefined` when no refusal of this API key or client address
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
   * Caches the refusal of an API key or client address for at most `maxRepeatedMs`. The refusal leaves the cache
   * earlier if a used rate limit point stops counting in one of the two rate limit windows.
   *
   * @param askedAt the time at which the process sent the request to the rate limiter, read from `performance.now()`
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

  /** Removes the refusal of an API key or client address from the cache. */
  forget(subject: RateLimitSubject): void {
    this.#refusalsOfKind[subject.kind].delete(nameOf(subject));
  }
}

const nameOf = ({ id, hourlyLimit, burstLimit }: RateLimitSubject) => `${id} ${hourlyLimit} ${burstLimit}`;
