import { ServiceError } from '../errors/error-table.ts';
import type { SlotLimits } from './limits.ts';
import { yieldToEventLoop } from './yield.ts';

/**
 * Limits the number of concurrent tasks of one kind in one process: each running task occupies a slot. A task that
 * waits for a slot does not occupy a database connection.
 */
export interface Slots {
  /**
   * Runs a task as soon as a slot is free. Tasks of one owner start in the order in which `run` was called. The owners
   * of waiting tasks (such as API keys) get free slots in round-robin order. An owner with many tasks therefore cannot
   * block the other owners.
   *
   * @param owner the identifier of the owner, such as an API key or a location
   * @param options.mayRefuse whether `run` may refuse the task. For example, `mayRefuse` is false for the later batches
   *   of an import, because the import has already written its first batch
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many tasks of the owner wait, or when the task has waited too
   *   long
   */
  run<Result>(owner: string, work: () => Promise<Result>, options?: { mayRefuse: boolean }): Promise<Result>;
}

type ReleaseSlot = () => Promise<void>;

/** Creates the concurrency slots for one kind of task in one process. */
export function createSlots(limits: SlotLimits): Slots {
  const { runningPerOwner, holdMs, yields } = limits;
  /**
   * Maps each owner (such as an API key) to the tasks of the owner that wait for a slot. When a slot becomes free, the
   * process goes through the owners in the order of this map, and gives the slot to the first owner that may run
   * another task.
   */
  const waiting = new Map<string, Set<(releaseSlot: ReleaseSlot) => void>>();
  /**
   * The number of running tasks of each owner (such as an API key). A task that runs longer than `holdMs` has no slot
   * any more, but still counts as running.
   */
  const running = new Map<string, number>();
  let usedSlots = 0;

  const refusal = () => new ServiceError('RATE_LIMIT_EXCEEDED', limits.waiting!.refusal);

  const mayRun = (owner: string) => usedSlots < limits.running && (running.get(owner) ?? 0) < runningPerOwner;

  /** Occupies a slot. After `holdMs` milliseconds, the task releases its slot even if the task is still running. */
  function takeSlot(owner: string): ReleaseSlot {
    running.set(owner, (running.get(owner) ?? 0) + 1);
    usedSlots += 1;
    let holdsSlot = true;
    const freeSlot = () => {
      if (holdsSlot) usedSlots -= 1;
      holdsSlot = false;
      startWaiting();
    };
    const timer = holdMs === Infinity ? undefined : setTimeout(freeSlot, holdMs).unref();
    return async () => {
      if (yields && waiting.size > 0) await yieldToEventLoop();
      clearTimeout(timer);
      const others = running.get(owner)! - 1;
      if (others === 0) running.delete(owner);
      else running.set(owner, others);
      freeSlot();
    };
  }

  function startWaiting(): void {
    for (const [owner, tasks] of waiting) {
      if (usedSlots >= limits.running) return;
      if (!mayRun(owner)) continue;
      const [start] = tasks;
      waiting.delete(owner);
      tasks.delete(start!);
      if (tasks.size > 0) waiting.set(owner, tasks); // this owner now comes after all other waiting owners
      start!(takeSlot(owner));
    }
  }

  /**
   * Waits for a slot.
   *
   * @param maxMs the maximum time to wait, in milliseconds. If `maxMs` is undefined, the waiting time has no limit
   */
  function waitForSlot(owner: string, maxMs: number | undefined): Promise<ReleaseSlot> {
    return new Promise((resolve, reject) => {
      const tasks = waiting.get(owner) ?? new Set();
      waiting.set(owner, tasks);
      const start = (releaseSlot: ReleaseSlot) => {
        clearTimeout(timer);
        resolve(releaseSlot);
      };
      const giveUp = () => {
        tasks.delete(start);
        if (tasks.size === 0) waiting.delete(owner);
        reject(refusal());
      };
      tasks.add(start);
      const timer = maxMs === undefined ? undefined : setTimeout(giveUp, maxMs).unref();
    });
  }

  return {
    async run(owner, work, { mayRefuse } = { mayRefuse: true }) {
      const tasks = (running.get(owner) ?? 0) + (waiting.get(owner)?.size ?? 0);
      if (mayRefuse && limits.waiting && tasks >= runningPerOwner + limits.waiting.perOwner) throw refusal();
      const releaseSlot = mayRun(owner)
        ? takeSlot(owner)
        : await waitForSlot(owner, mayRefuse ? limits.waiting?.maxMs : undefined);
      try {
        return await work();
      } finally {
        void releaseSlot();
      }
    },
  };
}
