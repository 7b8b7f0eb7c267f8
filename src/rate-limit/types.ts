/**
 * The API key or the client address whose rate limit applies to a request. The address applies when the request has no
 * valid key. A process keeps keys and addresses in separate memory, so that many addresses cannot displace keys.
 */
export interface RateLimitSubject {
  kind: 'key' | 'address';
  /** The id of the API key, or the client's address. */
  id: string;
  /** How many points the API key or address may use in the hourly window. */
  hourlyLimit: number;
  /** How many points the API key or address may use in the burst window. */
  burstLimit: number;
}

/** The lengths of the two rolling windows, in seconds. */
export interface RateLimitWindows {
  windowSeconds: number;
  burstWindowSeconds: number;
}

/** One of the two windows of a key or address, as the response headers describe it. */
export interface RateLimitWindow {
  name: 'hour' | 'burst';
  /** How many points can be used in the window. */
  limit: number;
  /** How many points can still be used in the window. */
  remaining: number;
  /** The length of the window, in seconds. */
  windowSeconds: number;
  /**
   * When the oldest used point leaves the window, by the clock of the limiter. If no point is used, the time is now.
   */
  resetAt: Date;
  /** The number of whole seconds from the decision to `resetAt`, rounded up. */
  resetSeconds: number;
}

/** The decision about a request, with the data for its rate limit headers (docs/contract.md#rate-limit). */
export interface RateLimitDecision {
  allowed: boolean;
  /** The number of whole seconds after which the same request would be allowed; 0 for an allowed request. */
  retryAfter: number;
  hour: RateLimitWindow;
  burst: RateLimitWindow;
}

/** The number of used points in one rolling window. */
export interface WindowCount {
  /** The number of used points in the window, including the points of an allowed request. */
  used: number;
  /** When the oldest used point leaves the window, in Unix milliseconds. If no point is used, the time is now. */
  resetAtMs: number;
}

/** The number of used points in both rate limit windows at one moment. */
export interface WindowState {
  allowed: boolean;
  /** The number of milliseconds after which the same request would be allowed; 0 for an allowed request. */
  retryAfterMs: number;
  /** The time of the decision in Unix milliseconds, by the clock of the limiter. */
  nowMs: number;
  hour: WindowCount;
  burst: WindowCount;
}

/** Counts the points of requests in two rolling windows. A refused request is counted in neither window. */
export interface RollingLimiter {
  /** Takes points from both windows. A call with 0 points takes nothing and returns the current state. */
  take(subject: RateLimitSubject, points: number): Promise<WindowState>;
}

/** Decides whether requests are within their rate limits. The limiter never fails, and always enforces some limit. */
export interface RateLimiter {
  /** Takes points from both windows of a key or address. If either window has too little room, no points are taken. */
  consume(subject: RateLimitSubject, points?: number): Promise<RateLimitDecision>;
  /** Returns the cached refusal of a request that costs one point, or undefined when no refusal is cached. */
  refusal(subject: RateLimitSubject): RateLimitDecision | undefined;
  /** Returns the current state of both windows without taking points. */
  read(subject: RateLimitSubject): Promise<RateLimitDecision>;
  /**
   * Where the windows are kept at the moment. `fallback` means that Redis is unreachable and each process counts in its
   * own memory.
   */
  readonly backend: 'redis' | 'memory' | 'fallback';
  close(): Promise<void>;
}
