/**
 * The maximum pause between two attempts to send the same request, in milliseconds. After a response with status 429,
 * the console may pause for longer than `maxRetryDelayMs` (see `rateLimitDelayMs`).
 */
export const maxRetryDelayMs = 30_000;

/**
 * The maximum pause before the first retry of a request, in milliseconds. The console doubles the maximum pause before
 * each later retry.
 */
const firstRetryDelayMs = 1_000;

/** The seconds to wait after a response with status 429 (rate limit exceeded) that has no header `Retry-After`. */
const defaultRetryAfterSeconds = 10;

/**
 * Returns the pause before the next attempt to send a request, in milliseconds (exponential backoff). Up to half of the
 * pause before a retry is random (jitter). This jitter prevents many browser tabs from sending their requests at the
 * same moment.
 *
 * @param attempt the number of retries so far: 0 for the pause before the first retry
 */
export function retryDelayMs(attempt: number): number {
  const longest = Math.min(maxRetryDelayMs, firstRetryDelayMs * 2 ** attempt);
  return longest / 2 + (Math.random() * longest) / 2;
}

/**
 * Returns how long a client must wait after a response that reports an exceeded rate limit, in milliseconds. The pause
 * before a retry is never shorter than the time in the response header `Retry-After`.
 */
export function rateLimitDelayMs(attempt: number, response: Response | undefined): number {
  const seconds = Number(response?.headers.get('Retry-After')) || defaultRetryAfterSeconds;
  return seconds * 1000 + retryDelayMs(attempt);
}
