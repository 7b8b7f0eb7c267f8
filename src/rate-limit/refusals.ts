import { LRUCache } from 'lru-cache';
import type { RateLimitSubject, WindowState } from './types.ts';

/** How long a refusal is repeated without asking, in milliseconds, at most. */
const maxRepeatedMs = 5000;
/** How many refusals of each kind of subject a process remembers. */
const maxRefusalsOfKind = 10_000;

/** A refusal that is repeated from memory; the moments are of `performance.now()`. */
interface Refusal {
  state: WindowState;
  answeredAt: number;
  /** When the answer may be another one. */
  endsAt: number;
}

/**
 * Repeats refusals without asking Redis: only time can free a full window.
 *
 * The in-memory blocks of rate-limiter-flexible would do this for one limit of one point. They cannot tell the
 * state of the windows that the headers need, and they would refuse a cheaper request, or one after the limit was
 * raised, which has room.
 */
export class RememberedRefusals {
  readonly #refusalsOfKind = {
    key: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
    address: new LRUCache<string, Refusal>({ max: maxRefusalsOfKind }),
  };

  /** The state of a refusal that still holds, as of now; undefined when there is none. */
  find(subject: RateLimitSubject, points: number): WindowState | undefined {
    const now = performance.now();
    const refusal = this.#refusalsOfKind[subject.kind].get(nameOf(subject, points));
    if (!refusal || now >= refusal.endsAt) return undefined;
    const elapsedMs = now - refusal.answeredAt;
    const { state } = refusal;
    return { ...state, retryAfterMs: state.retryAfterMs - elapsedMs, nowMs: state.nowMs + elapsedMs };
  }

  /**
   * Remembers a refusal for as long as its answer stays the same.
   *
   * @param askedAt `performance.now()` of the question
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
