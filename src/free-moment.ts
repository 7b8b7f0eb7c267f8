import { setTimeout as sleep } from 'node:timers/promises';

/** How late a timer of a millisecond comes when the event loop has other work to do, in milliseconds. */
const busyMs = 3;

/** How often a long work asks again: on a process that is always busy it must go on, too. */
const mostMoments = 20;

/**
 * Waits until the event loop has nothing else to do, for a moment at most. A long work asks for it between its parts:
 * other requests go back and forth between clients, Redis and the database, and would wait for one part at each step.
 */
export async function freeMoment(): Promise<void> {
  for (let moment = 0; moment < mostMoments; moment += 1) {
    const startedAt = performance.now();
    await sleep(1);
    if (performance.now() - startedAt < busyMs) return;
  }
}
