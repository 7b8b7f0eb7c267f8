/**
 * Whose budget a request draws on: that of its key, or that of the client's address when it has no valid key.
 * Nothing that one kind of subject does can push the other kind out of the memory of a process.
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

/** One of the two windows of a subject, as a client is told of it. */
export interface RateLimitWindow {
  name: 'hour' | 'burst';
  /** Points in the window. */
  limit: number;
  /** Points that the window still allows now. */
  remaining: number;
  /** The length of the window, in seconds. */
  windowSeconds: number;
  /** When the oldest counted point leaves the window, by the clock of the limiter; now when there is none. */
  resetAt: Date;
  /** Whole seconds from the decision to `resetAt`, rounded up. */
  resetSeconds: number;
}

/** What the limiter says to a request, and what its headers tell (specification, "Limits"). */
export interface RateLimitDecision {
  allowed: boolean;
  /** Whole seconds until these points would pass; 0 when allowed. */
  retryAfter: number;
  hour: RateLimitWindow;
  burst: RateLimitWindow;
}

/** What one rolling window counted. */
export interface WindowCount {
  /** Points in the window, those of this request included when they passed. */
  used: number;
  /** Unix milliseconds at which the oldest counted point leaves the window; now when there is none. */
  resetAtMs: number;
}

/** What both windows counted, in one moment: the part of a decision that does not depend on who asks. */
export interface WindowState {
  allowed: boolean;
  /** Milliseconds until these points would pass; 0 when allowed. */
  retryAfterMs: number;
  /** Unix milliseconds of the decision, by the clock that the windows go by. */
  nowMs: number;
  hour: WindowCount;
  burst: WindowCount;
}

/** Counts points in two rolling windows, all or none of a request's points at once. */
export interface RollingLimiter {
  /** Takes points; no points only reads. */
  take(subject: RateLimitSubject, points: number): Promise<WindowState>;
}

/** Decides whether requests may pass. Never fails, and never lets everything pass. */
export interface RateLimiter {
  /** Takes points from both windows of a subject, or none when one window has no room for all of them. */
  consume(subject: RateLimitSubject, points?: number): Promise<RateLimitDecision>;
  /** The refusal of one point that is known without asking, since only time can change it; undefined otherwise. */
  refusal(subject: RateLimitSubject): RateLimitDecision | undefined;
  /** The present state of a subject's windows; takes nothing. */
  read(subject: RateLimitSubject): Promise<RateLimitDecision>;
  /** Who decides now; `fallback` is a budget for each process while Redis does not answer. */
  readonly backend: 'redis' | 'memory' | 'fallback';
  close(): Promise<void>;
}
