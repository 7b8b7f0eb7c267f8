import { LRUCache } from 'lru-cache';
import type { RateLimitSubject, WindowState } from './types.ts';

/** The longest time for which a refusal is repeated from the cache, in milliseconds. */
const maxRepeatedMs = 5000;
/** The maximum number of cached refusals per kind of subject. */
const maxRefusalsOfKind = 10_000;

/** A cached refusal. Its times are by the monotonic clock (`performance.now()`). */
interface Refusal {
  state: WindowState;
  answeredAt: number;
  /** When the cached refusal expires. */
  endsAt: number;
}

/**
 * Repeats refusals without asking Redis, because only the passing of time can free a full window.
 * The in-memory blocks of rate-limiter-flexible are not sufficient. They handle only one limit and requests of one
 * point, and do not know the state of the windows for the headers. They would also refuse a cheaper request, or a
 * request after the limit was raised, although the window has room.
 */
export class RememberedRefusals {
  readonly #refusalsOfKind = {
    key: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
    address: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
  };

  /** Returns the current state of a cached refusal that still holds, or undefined when there is no such refusal. */
  find(subject: RateLimitSubject, points: number): WindowState | undefined {
    const now = performance.now();
    const refusal = this.#refusalsOfKind[subject.kind].get(nameOf(subject, points));
    if (!refusal || now >= refusal.endsAt) return undefined;
    const elapsedMs = now - refusal.answeredAt;
    const { state } = refusal;
    return { ...state, retryAfterMs: state.retryAfterMs - elapsedMs, nowMs: state.nowMs + elapsedMs };
  }

  /**
   * Caches a refusal for as long as the decision cannot change.
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
