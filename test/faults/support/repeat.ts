import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls a function again and again, with a pause after each call, until `stop` is called.
 *
 * @param work the function to call; its argument is the number of earlier calls
 * @returns the function `count`, which returns the number of completed calls, and the function `stop`, which ends the
 *   calls
 */
export function repeat(work: (count: number) => Promise<unknown>, pauseMs: number) {
  let stopped = false;
  let count = 0;
  async function run(): Promise<void> {
    for (; !stopped; count += 1) {
      await work(count);
      await sleep(pauseMs);
    }
  }
  const running = run();
  return {
    count: () => count,
    async stop() {
      stopped = true;
      await running;
    },
  };
}
