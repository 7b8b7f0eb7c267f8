import { yieldToEventLoop } from './yield.ts';

/**
 * How long a task holds its slot, in milliseconds. A task that takes longer is waiting for something, such as a locked
 * location or a slow client. It goes on without a slot, so that it does not delay the tasks of other names.
 */
const maxSlotMs = 2_000;

/** Runs tasks within a number of slots, and at most one task of each name at a time. */
export interface FairTurns {
  /**
   * Runs a task when a slot is free and no other task of its name runs.
   *
   * @param name the owner of the task, such as a key. Names take turns, so that heavy callers cannot starve light ones
   */
  run<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** How many tasks of a name wait. */
  waiting(name: string): number;
}

/**
 * Creates the slots of one process. Before a slot passes to a waiting task, the process yields to the event loop.
 *
 * @param maxAtOnce the number of slots
 */
export function createFairTurns(maxAtOnce: number): FairTurns {
  /** The waiting tasks by name. The first name is the next one to run. */
  const waiting = new Map<string, (() => Promise<void>)[]>();
  const running = new Set<string>();
  let usedSlots = 0;

  function startNext(): void {
    for (const [name, works] of waiting) {
      if (usedSlots >= maxAtOnce) return;
      if (running.has(name)) continue;
      const start = works.shift()!;
      waiting.delete(name);
      if (works.length > 0) waiting.set(name, works); // behind the other names
      running.add(name);
      const releaseSlot = takeSlot();
      void start().finally(async () => {
        if (waiting.size > 0) await yieldToEventLoop();
        running.delete(name);
        releaseSlot();
      });
    }
  }

  /**
   * Takes a slot. It is released after `maxSlotMs` at the latest.
   *
   * @returns a function that releases the slot and starts the next task
   */
  function takeSlot(): () => void {
    let holdsSlot = true;
    usedSlots += 1;
    const releaseSlot = () => {
      clearTimeout(timer);
      if (holdsSlot) usedSlots -= 1;
      holdsSlot = false;
      startNext();
    };
    const timer = setTimeout(releaseSlot, maxSlotMs).unref();
    return releaseSlot;
  }

  return {
    run: <Result>(name: string, work: () => Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        const works = waiting.get(name) ?? [];
        works.push(() => work().then(resolve, reject));
        waiting.set(name, works);
        startNext();
      }),
    waiting: (name) => waiting.get(name)?.length ?? 0,
  };
}
