import pLimit, { type LimitFunction } from 'p-limit';
import { ServiceError } from '../errors/error-table.ts';

/** Runs works in turn, so that those that wait hold no connection to the database. */
export interface Turns {
  /**
   * Runs a work when the works before it under the same name have ended, whether they succeeded or not.
   *
   * @param mayRefuse false for the later parts of a work that has begun
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many works wait under that name
   */
  run<Result>(name: string, work: () => Promise<Result>, options?: { mayRefuse: boolean }): Promise<Result>;
}

/**
 * Creates turns for one process.
 *
 * @param maxWaiting how many works may wait under one name
 * @param refusal the message of the error for one more
 */
export function createTurns({ maxWaiting, refusal }: { maxWaiting: number; refusal: string }): Turns {
  const queues = new Map<string, { limit: LimitFunction; works: number }>();
  return {
    async run(name, work, { mayRefuse } = { mayRefuse: true }) {
      const queue = queues.get(name) ?? { limit: pLimit(1), works: 0 };
      // One of the works is running, the others wait.
      if (mayRefuse && queue.works > maxWaiting) throw new ServiceError('RATE_LIMIT_EXCEEDED', refusal);
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
 * How many changes of one location may wait in a process: more than the gates of a location send at once, and few
 * enough that the last one is answered within seconds.
 */
export const maxWaitingPerLocation = 100;

/**
 * The turns of changes that lock a location: events, imports and changes of the location itself. More than one at a
 * time would only hold connections that others need.
 *
 * Whoever waits must reach the location: a key must not fill the queue of a location of others.
 */
export const createLocationTurns = () =>
  createTurns({
    maxWaiting: maxWaitingPerLocation,
    refusal: 'Too many changes of this location are waiting, please try again later',
  });
