/**
 * The owner of the budget that a request uses: its key, or the client's address when it has no valid key. Each kind has
 * its own memory in a process, so subjects of one kind cannot displace those of the other.
 */
export interface RateLimitSubject {
  kind: 'key' | 'address';
  /** The id of the key, or the address. */
  id: string;
  /** Points in the hourly window. */
  hourlyLimit: number;
  /** Points in the burst window. */
  burstLimit: number;
}

/** The lengths of the two rolling windows, in seconds. */
export interface RateLimitWindows {
  windowSeconds: number;
  burstWindowSeconds: number;
}

/** One of the two windows of a subject, as a client sees it. */
export interface RateLimitWindow {
  name: 'hour' | 'burst';
  /** Points in the window. */
  limit: number;
  /** Points that are still available in the window. */
  remaining: number;
  /** The length of the window, in seconds. */
  windowSeconds: number;
  /** When the oldest counted point leaves the window, by the clock of the limiter; now when the window is empty. */
  resetAt: Date;
  /** Whole seconds from the decision to `resetAt`, rounded up. */
  resetSeconds: number;
}

/** The decision about a request, and the data of its headers (docs/contract.md#rate-limit). */
export interface RateLimitDecision {
  allowed: boolean;
  /** Whole seconds until the same request would be allowed; 0 when it is allowed. */
  retryAfter: number;
  hour: RateLimitWindow;
  burst: RateLimitWindow;
}

/** The count of one rolling window. */
export interface WindowCount {
  /** Points in the window, including those of this request if it was allowed. */
  used: number;
  /** Unix milliseconds at which the oldest counted point leaves the window; now when the window is empty. */
  resetAtMs: number;
}

/** The counts of both windows at one moment. */
export interface WindowState {
  allowed: boolean;
  /** Milliseconds until the same request would be allowed; 0 when it is allowed. */
  retryAfterMs: number;
  /** Unix milliseconds of the decision, by the clock of the windows. */
  nowMs: number;
  hour: WindowCount;
  burst: WindowCount;
}

/** Counts points in two rolling windows. Either all points of a request are counted or none. */
export interface RollingLimiter {
  /** Takes points; 0 points only reads the windows. */
  take(subject: RateLimitSubject, points: number): Promise<WindowState>;
}

/** Decides whether requests are allowed. It never fails, and always enforces a limit. */
export interface RateLimiter {
  /** Takes points from both windows of a subject, or none when either window has no room for all of them. */
  consume(subject: RateLimitSubject, points?: number): Promise<RateLimitDecision>;
  /** The cached refusal of a request of one point; undefined when none is cached. */
  refusal(subject: RateLimitSubject): RateLimitDecision | undefined;
  /** The current state of a subject's windows; takes no points. */
  read(subject: RateLimitSubject): Promise<RateLimitDecision>;
  /** The current place of the windows. With `fallback`, each process has its own budget while Redis is unreachable. */
  readonly backend: 'redis' | 'memory' | 'fallback';
  close(): Promise<void>;
}
