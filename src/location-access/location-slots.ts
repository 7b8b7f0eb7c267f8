import type { WaitingAuthor } from '../auth/key.ts';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots } from '../scheduling/slots.ts';

/** Limits the concurrent changes of locations in one process: the changes of one location run one after another. */
export interface LocationSlots {
  /**
   * Runs a change at a location as soon as the earlier changes at this location have ended. The gateway checks the API
   * key again before the change begins, because the API key may have been revoked while the change waited for earlier
   * changes.
   *
   * @param author the author of the change, or null if the gateway itself makes the change
   * @param options.mayRefuse whether `run` is allowed to refuse the change (see `Slots.run`); by default true
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many changes at the location are already waiting, or when
   *   earlier changes at the location take too long
   * @throws {ServiceError} `UNAUTHORIZED` or `FORBIDDEN` when the API key lost its access while the change waited
   */
  run<Result>(
    author: WaitingAuthor | null,
    locationId: string,
    work: () => Promise<Result>,
    options?: { mayRefuse: boolean },
  ): Promise<Result>;
}

/** Creates the object that runs the changes of each location one after another, in one process. */
export function createLocationSlots(): LocationSlots {
  const slots = createSlots(slotLimits.locationChanges);
  return {
    run(author, locationId, work, options) {
      const runChecked = async () => {
        // The gateway checks the API key before the transaction of the change begins. If the gateway looked up the API
        // key while the transaction was open, the transaction and the look-up would wait for each other (a deadlock).
        // With the embedded database, no other SQL statement runs until the open transaction has ended.
        await author?.reauthenticate();
        return work();
      };
      return slots.run(locationId, runChecked, options);
    },
  };
}
