import type { ParkingEvent } from '../../prisma/generated/client/client.ts';
import type { WaitingAuthor } from '../auth/key.ts';
import { recordReadings } from './record-readings.ts';
import type { Reading } from './match-entries.ts';
import type { LocationChangeServices } from '../location-access/change-services.ts';

/** The functions that record single parking events in the database. */
export type ParkingWrites = ReturnType<typeof createParkingWrites>;

/** Creates the functions that record single parking events. */
export function createParkingWrites({
  prisma,
  locations,
  locationSlots,
  statusNotices,
  whitelistNotices,
}: LocationChangeServices) {
  return {
    /**
     * Records one parking event of a gate (see `recordReadings`). The gateway records the parking events of one
     * location one after the other.
     *
     * @returns the event
     * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
     * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many changes at the location are already waiting, or when
     *   earlier changes at the location take too long
     * @throws {ServiceError} `UNAUTHORIZED` or `FORBIDDEN` when the API key lost its access while the event waited for
     *   earlier changes of the location
     */
    async recordEvent(author: WaitingAuthor, locationId: string, reading: Reading): Promise<ParkingEvent> {
      await locations.find(author.key, locationId);
      const [recorded] = await locationSlots.run(author, locationId, () =>
        prisma.$transaction((transaction) => recordReadings(transaction, author, locationId, [reading])),
      );
      const { event, outcome, mayChangePass } = recorded!;
      if (outcome !== 'unchanged') statusNotices.publish(locationId);
      if (mayChangePass) whitelistNotices.publish(locationId);
      return event;
    },
  };
}
