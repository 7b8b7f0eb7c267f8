import pLimit, { type LimitFunction } from 'p-limit';
import { ServiceError } from '../errors/error-table.ts';

/** Limits how many tasks of one name run at once. A waiting task holds no database connection. */
export interface Turns {
  /**
   * Runs a task when a slot of its name is free. Tasks of one name start in the order of the calls.
   *
   * @param mayRefuse false for the later parts of a task that has begun, so that these parts are never refused
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many tasks of that name wait
   */
  run<Result>(name: string, work: () => Promise<Result>, options?: { mayRefuse: boolean }): Promise<Result>;
}

/**
 * Creates the slots of one process.
 *
 * @param options.maxAtOnce how many tasks of one name run at once; 1 by default
 * @param options.maxWaiting how many tasks of one name may wait
 * @param options.refusal the message of the error when too many tasks wait
 */
export function createTurns(options: { maxAtOnce?: number; maxWaiting: number; refusal: string }): Turns {
  const { maxAtOnce = 1, maxWaiting, refusal } = options;
  const queues = new Map<string, { limit: LimitFunction; works: number }>();
  return {
    async run(name, work, { mayRefuse } = { mayRefuse: true }) {
      const queue = queues.get(name) ?? { limit: pLimit(maxAtOnce), works: 0 };
      if (mayRefuse && queue.works >= maxAtOnce + maxWaiting)
        throw new ServiceError('RATE_LIMIT_EXCEEDED', refusal);
      queues.set(name, queue);
      queue.works += 1;
      try {
        return await queue.limit(work);
      } finally {
        queue.works -= 1;
        if (queue.works === 0) queues.delete(name);
      }
    },
  };
}

/**
 * The maximum number of changes of one location that wait in a process. The gates of a location send fewer changes at
 * once. When this many changes wait, the last change is still answered within seconds.
 */
export const maxWaitingPerLocation = 100;

/**
 * Creates the slots for changes that lock a location: events, imports and changes of the location itself. Each location
 * has one slot. Without slots, a second change would wait for the lock, and hold a connection that other requests need.
 * Callers must first check that the location is in the key's scope. Otherwise, a key could fill the queue of another
 * company's location.
 */
export const createLocationTurns = () =>
  createTurns({
    maxWaiting: maxWaitingPerLocation,
    refusal: 'Too many changes of this location are waiting, please try again later',
  });
