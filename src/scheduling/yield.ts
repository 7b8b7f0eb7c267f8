import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';

/** The event loop counts as busy when a timer of 1 ms needs at least `busyMs` milliseconds to fire. */
const busyMs = 3;

/**
 * The maximum number of times that a long task checks whether the event loop is still busy. Each pause has its own
 * limit: the checks of earlier pauses do not count. After `maxChecks` checks, the long task continues even in a busy
 * process.
 */
const maxChecks = 20;

/**
 * The maximum length of one pause in which a long task lets other requests run, in milliseconds. If pauses had no
 * maximum length, several slow iterations of the event loop could delay a long task by seconds.
 */
const maxYieldMs = 250;

/** The interval at which a stopping process checks whether a request is still in progress, in milliseconds. */
const checkIntervalMs = 10;

/**
 * The number of requests whose handlers are running in this process, including requests of clients that have already
 * disconnected.
 */
let requestsInProgress = 0;

/**
 * The number of long tasks that are currently waiting in `yieldToEventLoop`. While a long task waits in
 * `yieldToEventLoop`, its request still counts as a request in progress, but does no work.
 */
let yieldingTasks = 0;

/**
 * Tells the scheduler of long tasks that the process has begun to answer a request. While this request is in progress,
 * the long tasks of other requests pause from time to time.
 *
 * @returns a function that the caller must call once, when the request ends
 */
export function beginRequest(): () => void {
  requestsInProgress += 1;
  return () => void (requestsInProgress -= 1);
}

/**
 * How long a closing gateway waits for requests whose handlers are still running, in milliseconds. A handler can still
 * run after its client has disconnected, for example while the handler waits for a locked location. After the HTTP
 * listener has stopped, the process must end within 3.5 s. The process waits at most 2 s (`lastRequestsMs`) for running
 * handlers. The process then has 1.5 s to write the last records and to close the database.
 */
const lastRequestsMs = 2_000;

/**
 * Waits until no request is in progress, but at most `lastRequestsMs`.
 *
 * @returns the number of requests that are still in progress after the wait
 */
export async function waitForLastRequests(): Promise<number> {
  const endsAt = performance.now() + lastRequestsMs;
  while (requestsInProgress > 0 && performance.now() < endsAt) await sleep(checkIntervalMs);
  return requestsInProgress;
}

/**
 * Yields to the event loop between two parts of a long task. If no other request is in progress, the pause of a long
 * task ends as soon as the event loop has accepted new requests. While other requests are in progress, the long task
 * waits until the event loop has no other work, but at most `maxYieldMs`. A long task without pauses would delay all
 * messages that the process exchanges with clients, Redis and the database.
 */
export async function yieldToEventLoop(): Promise<void> {
  yieldingTasks += 1;
  try {
    // The task waits for two iterations of the event loop, because the first iteration can end without reading the
    // sockets. The second iteration always reads the sockets.
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
