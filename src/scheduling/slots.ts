import { ServiceError } from '../errors/error-table.ts';
import type { SlotLimits } from './limits.ts';
import { yieldToEventLoop } from './yield.ts';

/**
 * The slots for one kind of task in one process. A task that waits for a slot does not occupy a database connection.
 */
export interface Slots {
  /**
   * Runs a task as soon as a slot is free. Tasks of one owner start in the order in which `run` was called. The owners
   * get free slots in round-robin order, so that an owner with many tasks cannot block the other owners.
   *
   * @param owner the identifier of the owner, such as an API key or a location
   * @param options.mayRefuse false if the task continues work that has already begun, and must therefore not be refused
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many tasks of the owner wait
   */
  run<Result>(owner: string, work: () => Promise<Result>, options?: { mayRefuse: boolean }): Promise<Result>;
}

type ReleaseSlot = () => Promise<void>;

/** Creates the slots for one kind of task in one process. */
export function createSlots(limits: SlotLimits): Slots {
  const { runningPerOwner, holdMs, yields } = limits;
  /** Maps each owner to its tasks that wait for a slot. The next free slot goes to the first owner in the map. */
  const waiting = new Map<string, ((releaseSlot: ReleaseSlot) => void)[]>();
  /** The number of running tasks of each owner, including tasks that have already released their slot. */
  const running = new Map<string, number>();
  let usedSlots = 0;

  const mayRun = (owner: string) => usedSlots < limits.running && (running.get(owner) ?? 0) < runningPerOwner;

  /** Occupies a slot. The slot is released after `holdMs` milliseconds at the latest. */
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
      const start = tasks.shift()!;
      waiting.delete(owner);
      if (tasks.length > 0) waiting.set(owner, tasks); // this owner now comes after all other waiting owners
      start(takeSlot(owner));
    }
  }

  function waitForSlot(owner: string): Promise<ReleaseSlot> {
    return new Promise((start) => {
      const tasks = waiting.get(owner);
      if (tasks) tasks.push(start);
      else waiting.set(owner, [start]);
    });
  }

  return {
    async run(owner, work, { mayRefuse } = { mayRefuse: true }) {
      const tasks = (running.get(owner) ?? 0) + (waiting.get(owner)?.length ?? 0);
      if (mayRefuse && limits.waiting && tasks >= runningPerOwner + limits.waiting.perOwner)
        throw new ServiceError('RATE_LIMIT_EXCEEDED', limits.waiting.refusal);
      const releaseSlot = mayRun(owner) ? takeSlot(owner) : await waitForSlot(owner);
      try {
        return await work();
      } finally {
        void releaseSlot();
      }
    },
  };
}
