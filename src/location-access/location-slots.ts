import type { WaitingAuthor } from '../auth/key.ts';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots } from '../scheduling/slots.ts';

/** The slots for changes of locations in one process. The changes of one location run one after another. */
export interface LocationSlots {
  /**
   * Runs a change of a location as soon as the earlier changes of the location have ended. The gateway checks the API
   * key again before the change begins, because the API key may have been revoked while the change waited for its
   * slots.
   *
   * @param author the author of the change, or null if the gateway itself makes the change
   * @param options.mayRefuse see `Slots.run`
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many changes of the location are waiting, or when earlier
   *   changes take too long. `UNAUTHORIZED` or `FORBIDDEN` when the API key has lost its access
   */
  run<Result>(
    author: WaitingAuthor | null,
    locationId: string,
    work: () => Promise<Result>,
    options?: { mayRefuse: boolean },
  ): Promise<Result>;
}

/** Creates the slots for changes of locations in one process. */
export function createLocationSlots(): LocationSlots {
  const slots = createSlots(slotLimits.locationChanges);
  return {
    run(author, locationId, work, options) {
      const runChecked = async () => {
        // The API key is checked before the transaction of the change begins. On the embedded database, a look-up of
        // the API key inside this transaction would wait for the end of the transaction.
        await author?.reauthenticate();
        return work();
      };
      return slots.run(locationId, runChecked, options);
    },
  };
}
