import { type ParkingEvent, type ParkingSession, Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import type { Sql } from '../database/types.ts';
import { listOfLocation } from '../locations/list-of-location.ts';
import type { PagedList } from '../pages.ts';

/** The reads of parking activity over one database. */
export type ParkingReads = ReturnType<typeof createParkingReads>;

/** Prepares the reads of events and sessions. Those of one turn of the event loop are joined. */
export function createParkingReads({ sql }: { sql: Sql }) {
  const owner = { table: 'Location', column: 'locationId' } as const;
  const events = createKeysetList<ParkingEvent, { ownerId: string }>(sql, {
    table: 'ParkingEvent',
    fields: Prisma.ParkingEventScalarFieldEnum,
    owner,
  });
  const sessions = createKeysetList<ParkingSession, { ownerId: string; open?: boolean | undefined }>(sql, {
    table: 'ParkingSession',
    fields: Prisma.ParkingSessionScalarFieldEnum,
    owner,
    filters: { open: 'boolean' },
  });

  return {
    /** The events of a location. Its pages are `NOT_FOUND` for a location out of reach. */
    eventsOf: (key: AuthenticatedKey, locationId: string): PagedList<ParkingEvent> =>
      listOfLocation(events, key, { ownerId: locationId }),

    /**
     * The sessions of a location. Its pages are `NOT_FOUND` for a location out of reach.
     *
     * @param open only sessions whose vehicle is inside, or only those whose vehicle is not; all when left out
     */
    sessionsOf: (
      key: AuthenticatedKey,
      locationId: string,
      open: boolean | null | undefined,
    ): PagedList<ParkingSession> =>
      listOfLocation(sessions, key, { ownerId: locationId, open: open ?? undefined }),
  };
}
