import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Repeats a function with a pause after each call, until stopped.
 * @param work the function, which gets the number of earlier calls
 * @returns the number of calls, and a function that stops the repetition
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
