import { LRUCache } from 'lru-cache';
import type { RateLimitSubject, WindowState } from './types.ts';

/** How long a cached refusal may be repeated at most, in milliseconds. */
const maxRepeatedMs = 5000;
/** The maximum number of cached refusals of API keys, and the maximum number for client addresses. */
const maxRefusalsOfKind = 10_000;

/** A cached refusal. Its times are values of the monotonic clock (`performance.now()`). */
interface Refusal {
  state: WindowState;
  answeredAt: number;
  /** When the cached refusal may no longer be repeated. */
  endsAt: number;
}

/**
 * A cache of refusals. While a window is full, only the passing of time can free it, so the process repeats the refusal
 * without a call to Redis. The in-memory blocks of rate-limiter-flexible are not sufficient. They know only one limit,
 * requests of one point, and no values for the rate limit headers. They would also refuse a cheaper request, or a
 * request after the limit was raised, although the window has room.
 */
export class RememberedRefusals {
  readonly #refusalsOfKind = {
    key: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
    address: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
  };

  /**
   * Returns the cached refusal of a request with its current waiting times, or undefined when the request may be
   * allowed now.
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
   * Caches a refusal until the decision can change.
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
