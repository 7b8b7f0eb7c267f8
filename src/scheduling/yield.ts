import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';

/** The delay of a timer, in milliseconds, from which on the event loop counts as busy. The timer is set to 1 ms. */
const busyMs = 3;

/**
 * How often a long task checks for other work before it continues. The number is limited, so that the task makes
 * progress even in a busy process.
 */
const maxChecks = 20;

/**
 * How long a long task waits for other work in one pause, in milliseconds. Without this limit, slow iterations of the
 * event loop would add up to seconds.
 */
const maxYieldMs = 250;

/** The number of requests that this process has received and not yet answered. */
let requestsInProgress = 0;

/**
 * The number of long tasks that are currently yielding. Their requests are still in progress, but have no other work to
 * do.
 */
let yieldingTasks = 0;

/**
 * Reports that the process has begun to answer a request. Long tasks of other requests then yield to this request.
 *
 * @returns a function that the caller must call once, when the request ends
 */
export function beginRequest(): () => void {
  requestsInProgress += 1;
  return () => void (requestsInProgress -= 1);
}

/**
 * Yields to the event loop between two parts of a long task. If no other request is in progress, the function only lets
 * the event loop accept new requests. Otherwise, the function waits until the event loop has no other work, but at most
 * `maxYieldMs`. Other requests exchange several messages with clients, Redis and the database, and a long task without
 * this wait would delay each message.
 */
export async function yieldToEventLoop(): Promise<void> {
  yieldingTasks += 1;
  try {
    // The first wait may end in the current iteration of the event loop, which has already read its sockets. The second
    // wait ensures that the next iteration reads them.
    await nextIteration();
    await nextIteration();
    const endsAt = performance.now() + maxYieldMs;
    for (let checks = 0; checks < maxChecks && requestsInProgress > yieldingTasks; checks += 1) {
      const startedAt = performance.now();
      await sleep(1);
      const now = performance.now();
      if (now - startedAt < busyMs || now >= endsAt) return;
    }
  } finally {
    yieldingTasks -= 1;
  }
}
