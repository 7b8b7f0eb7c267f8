import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';

/** The delay of a 1 ms timer, in milliseconds, from which on the event loop counts as busy with other work. */
const busyMs = 3;

/**
 * How often a long task checks for other work before the task continues. The number is limited, so that the task makes
 * progress even on a busy process.
 */
const maxChecks = 20;

/**
 * How long a long task waits for other work at most, in milliseconds. Without this limit, slow iterations of the event
 * loop would add up to seconds.
 */
const maxYieldMs = 250;

/** The number of requests that the process is answering. */
let requestsInProgress = 0;

/**
 * The number of long tasks that are yielding. The request of such a task counts as in progress, but has no other work
 * to do.
 */
let yieldingTasks = 0;

/**
 * Counts a request that the process is answering. Long tasks of other requests yield to this request.
 *
 * @returns a function to call once, when the request ends
 */
export function beginRequest(): () => void {
  requestsInProgress += 1;
  return () => void (requestsInProgress -= 1);
}

/**
 * Yields to the event loop between two parts of a long task. Without other requests, the function only lets the event
 * loop accept new requests. With other requests, the function waits until the event loop has nothing else to do, but at
 * most `maxYieldMs`. Other requests exchange several messages with clients, Redis and the database. Without this wait,
 * one part of the long task would delay each of these messages.
 */
export async function yieldToEventLoop(): Promise<void> {
  yieldingTasks += 1;
  try {
    // The first wait may end in the current iteration, which has already read its sockets. The second wait lets the
    // next iteration read them.
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
