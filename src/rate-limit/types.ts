/**
 * The owner of the rate limit budget that a request uses. The owner is the API key, or the client's address when the
 * request has no valid key. Each kind of owner has separate memory in a process, so that many owners of one kind cannot
 * displace the other kind.
 */
export interface RateLimitSubject {
  kind: 'key' | 'address';
  /** The id of the key, or the client's address. */
  id: string;
  /** The maximum number of points in the hourly window. */
  hourlyLimit: number;
  /** The maximum number of points in the burst window. */
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
  /** The maximum number of points in the window. */
  limit: number;
  /** The number of points that are still available in the window. */
  remaining: number;
  /** The length of the window, in seconds. */
  windowSeconds: number;
  /**
   * When the oldest counted point leaves the window, by the clock of the limiter. If the window is empty, the time is
   * now.
   */
  resetAt: Date;
  /** The number of whole seconds from the decision to `resetAt`, rounded up. */
  resetSeconds: number;
}

/** The decision about a request, and the data of its headers (docs/contract.md#rate-limit). */
export interface RateLimitDecision {
  allowed: boolean;
  /**
   * The number of whole seconds until the same request would be allowed. The number is 0 when the request is allowed.
   */
  retryAfter: number;
  hour: RateLimitWindow;
  burst: RateLimitWindow;
}

/** The count of one rolling window of a rate limit. */
export interface WindowCount {
  /** The number of points in the window. If the request was allowed, its own points are included. */
  used: number;
  /** When the oldest counted point leaves the window, in Unix milliseconds. If the window is empty, the time is now. */
  resetAtMs: number;
}

/** The counts of both rate limit windows at one moment. */
export interface WindowState {
  allowed: boolean;
  /**
   * The number of milliseconds until the same request would be allowed. The number is 0 when the request is allowed.
   */
  retryAfterMs: number;
  /** The time of the decision in Unix milliseconds, by the clock of the windows. */
  nowMs: number;
  hour: WindowCount;
  burst: WindowCount;
}

/** Counts points in two rolling windows. The points of a request are counted in both windows, or in none. */
export interface RollingLimiter {
  /** Takes points from both windows. A call with 0 points only reads the windows. */
  take(subject: RateLimitSubject, points: number): Promise<WindowState>;
}

/** Decides whether requests are allowed. The limiter never fails, and always enforces a limit. */
export interface RateLimiter {
  /** Takes points from both windows of a subject. If one window has no room for all points, no point is taken. */
  consume(subject: RateLimitSubject, points?: number): Promise<RateLimitDecision>;
  /** Returns the cached refusal of a request of one point, or undefined when no refusal is cached. */
  refusal(subject: RateLimitSubject): RateLimitDecision | undefined;
  /** Returns the current state of a subject's windows without taking points. */
  read(subject: RateLimitSubject): Promise<RateLimitDecision>;
  /** Where the windows are kept now. With `fallback`, each process has its own budget while Redis is unreachable. */
  readonly backend: 'redis' | 'memory' | 'fallback';
  close(): Promise<void>;
}
