import type { ParkingEvent } from '../../prisma/generated/client/client.ts';
import type { Author } from '../auth/key.ts';
import { recordReadings } from './record-readings.ts';
import type { Reading } from './seen-plate.ts';
import type { LocationChangeServices } from '../locations/change-services.ts';

/** The changes of parking activity by single events in one database. */
export type ParkingWrites = ReturnType<typeof createParkingWrites>;

/** Prepares the changes of parking activity by single events. */
export function createParkingWrites({
  prisma,
  locations,
  locationTurns,
  statusNotices,
}: LocationChangeServices) {
  return {
    /**
     * Records what a gate saw (`recordReadings`). Events of one location are recorded one after the other.
     *
     * @returns the event
     * @throws {ServiceError} `NOT_FOUND` for a location out of reach, `RATE_LIMIT_EXCEEDED` when too many changes
     *   of the location are waiting
     */
    async recordEvent(author: Author, locationId: string, reading: Reading): Promise<ParkingEvent> {
      await locations.find(author.key, locationId);
      const [recorded] = await locationTurns.run(locationId, () =>
        prisma.$transaction((transaction) => recordReadings(transaction, author, locationId, [reading])),
      );
      const { event, outcome } = recorded!;
      if (outcome !== 'unchanged') statusNotices.publish(locationId);
      return event;
    },
  };
}
