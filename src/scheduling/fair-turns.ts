import { yieldToEventLoop } from './yield.ts';

/**
 * The maximum time that a task holds its slot, in milliseconds. A task that takes longer is waiting for something, such
 * as a locked location or a slow client. The task continues without a slot, so that it does not delay the tasks of
 * other names.
 */
const maxSlotMs = 2_000;

/** Runs tasks within a limited number of slots, and at most one task of each name at a time. */
export interface FairTurns {
  /**
   * Runs a task when a slot is free and no other task of its name runs.
   *
   * @param name the owner of the task, such as a key. The slots are given to the names in rotation, so that heavy
   *   callers cannot starve light callers
   */
  run<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** Returns how many tasks of a name wait. */
  waiting(name: string): number;
}

/**
 * Creates the slots of one process. Before a slot passes to a waiting task, the process yields to the event loop.
 *
 * @param maxAtOnce the number of slots
 */
export function createFairTurns(maxAtOnce: number): FairTurns {
  /** The waiting tasks by name. The task of the first name in the map runs next. */
  const waiting = new Map<string, (() => Promise<void>)[]>();
  const running = new Set<string>();
  let usedSlots = 0;

  function startNext(): void {
    for (const [name, works] of waiting) {
      if (usedSlots >= maxAtOnce) return;
      if (running.has(name)) continue;
      const start = works.shift()!;
      waiting.delete(name);
      if (works.length > 0) waiting.set(name, works); // the name moves to the end of the queue
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
   * Takes a slot. The slot is released after `maxSlotMs` at the latest.
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
