import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';

/** A 1 ms timer that fires after this many milliseconds or more shows that the event loop has other work to do. */
const busyMs = 3;

/** How often a long task checks for other work before it goes on. It must make progress even on a busy process. */
const maxChecks = 20;

/** How long these checks may take, in milliseconds. Without it, slow event loop iterations would add up to seconds. */
const maxYieldMs = 250;

/** How many requests the process is answering. */
let requestsInProgress = 0;

/** How many long tasks are yielding. The request of each counts as in progress, but has no other work to do. */
let yieldingTasks = 0;

/**
 * Counts a request that the process is answering. Long tasks of other requests yield to it.
 *
 * @returns a function to call once, when the request ends
 */
export function beginRequest(): () => void {
  requestsInProgress += 1;
  return () => void (requestsInProgress -= 1);
}

/**
 * Yields to the event loop between two parts of a long task. Without other requests, this only lets the event loop accept
 * new requests. Otherwise it waits until the event loop has nothing else to do, but at most `maxYieldMs`. Other requests
 * exchange several messages with clients, Redis and the database. Without this wait, each of these messages would be
 * delayed by one part of the long task.
 */
export async function yieldToEventLoop(): Promise<void> {
  yieldingTasks += 1;
  try {
    // The first wait may end in the current iteration, which has read its sockets already. The second one lets the next
    // iteration read them.
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
