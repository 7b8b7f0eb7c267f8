/**
 * The API key or the client address whose rate limit applies to a request. A request without a valid API key uses the
 * rate limit of its client address. A process stores the used rate limit points of API keys and of client addresses
 * separately. Requests from many client addresses therefore cannot displace the stored points of API keys from memory.
 */
export interface RateLimitSubject {
  kind: 'key' | 'address';
  /** The id of the API key, or the client's address. */
  id: string;
  /** The maximum number of rate limit points that the API key or client address may use in the hourly window. */
  hourlyLimit: number;
  /** The maximum number of rate limit points that the API key or client address may use in the burst window. */
  burstLimit: number;
}

/** The lengths of the two rolling rate limit windows, in seconds. */
export interface RateLimitWindows {
  windowSeconds: number;
  burstWindowSeconds: number;
}

/** One of the two rate limit windows of an API key or client address, with the values for the response headers. */
export interface RateLimitWindow {
  name: 'hour' | 'burst';
  /** The maximum number of rate limit points that an API key or client address can use in one rate limit window. */
  limit: number;
  /** The number of rate limit points that can still be used in the window. */
  remaining: number;
  /** The length of the rate limit window, in seconds. */
  windowSeconds: number;
  /**
   * The time at which the oldest used point leaves the rate limit window. If no point was used in the rate limit
   * window, `resetAt` is the current time. The clock for `resetAt` is the clock of the Redis server, or the clock of
   * this process if the process does not use Redis.
   */
  resetAt: Date;
  /** The number of whole seconds from the rate limit decision until `resetAt`, rounded up. */
  resetSeconds: number;
}

/**
 * The decision whether a request is allowed, with the data for the rate limit headers of the response
 * (docs/contract-keys.md#rate-limit).
 */
export interface RateLimitDecision {
  allowed: boolean;
  /**
   * The time at which the rate limiter made this decision, in Unix milliseconds. The time comes from the clock of the
   * Redis server, or from the clock of this process if the process does not use Redis.
   */
  decidedAtMs: number;
  /** The number of whole seconds until the gateway would allow this request; 0 for an allowed request. */
  retryAfter: number;
  hour: RateLimitWindow;
  burst: RateLimitWindow;
}

/** The number of used rate limit points in one rolling window. */
export interface WindowCount {
  /**
   * The number of used rate limit points in the window, including the points of the current request if the request is
   * allowed.
   */
  used: number;
  /**
   * The time at which the oldest used point leaves the rate limit window, in Unix milliseconds. If no point was used in
   * the window, `resetAtMs` is the current time.
   */
  resetAtMs: number;
}

/** Whether a request is allowed, and the state of both rate limit windows at the time of this decision. */
export interface WindowState {
  allowed: boolean;
  /** The number of milliseconds until the gateway would allow this request; 0 for an allowed request. */
  retryAfterMs: number;
  /**
   * The time at which the rate limiter made this decision, in Unix milliseconds. The time comes from the clock of the
   * Redis server, or from the clock of this process if the process does not use Redis.
   */
  nowMs: number;
  hour: WindowCount;
  burst: WindowCount;
}

/**
 * Counts the rate limit points of requests in two rolling windows. If the rate limiter refuses a request, it does not
 * count the points of this request.
 */
export interface RollingLimiter {
  /**
   * Uses rate limit points of an API key or client address in both rate limit windows. A call with 0 points changes
   * nothing, and returns the current state of the rate limit windows.
   *
   * @param replacedAtMs the time (`nowMs`) of an earlier call that used one rate limit point for the same request. In
   *   one atomic operation, the limiter refunds the point that the earlier call used for the same request, and then
   *   uses `points` points. `points` must therefore be the points of the whole request, including the point that the
   *   limiter refunds. Even if the limiter refuses the request, it refunds the point that the earlier call used for
   *   this request
   */
  take(subject: RateLimitSubject, points: number, replacedAtMs?: number): Promise<WindowState>;
}

/**
 * Decides whether requests are within their rate limits. While Redis is unreachable, each process enforces the limits
 * separately, so the rate limiter never fails.
 */
export interface RateLimiter {
  /**
   * Uses one rate limit point of an API key or client address in both rate limit windows. If one of the two rate limit
   * windows has no points left, `consume` refuses the request, and the points of both windows stay unchanged.
   */
  consume(subject: RateLimitSubject): Promise<RateLimitDecision>;
  /**
   * Uses all rate limit points of a request that costs several points. The caller has already called `consume`, which
   * used one rate limit point for the request. If one of the two rate limit windows has fewer points left than the
   * whole request costs, the rate limiter refuses the request. A refused request uses no rate limit points: the rate
   * limiter also refunds the point that `consume` already used for this request.
   *
   * @param points the points of the whole request, including the point that `consume` used
   * @param consumedAtMs the time (`decidedAtMs`) at which `consume` decided about the same request
   */
  consumeWhole(
    subject: RateLimitSubject,
    points: number,
    consumedAtMs: number | undefined,
  ): Promise<RateLimitDecision>;
  /**
   * Returns the cached refusal of a request that costs one rate limit point, or `undefined` when no refusal is cached.
   */
  refusal(subject: RateLimitSubject): RateLimitDecision | undefined;
  /** Returns the current state of both rate limit windows without using points. */
  read(subject: RateLimitSubject): Promise<RateLimitDecision>;
  /**
   * Where the rate limiter currently stores the rate limit windows. `fallback` means that Redis is unreachable, so each
   * process counts the used rate limit points in its own memory.
   */
  readonly backend: 'redis' | 'memory' | 'fallback';
  close(): Promise<void>;
}
