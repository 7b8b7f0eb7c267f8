import { type ParkingEvent, type ParkingSession, Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import type { Database } from '../database/types.ts';
import { listOfLocation } from '../locations/list-of-location.ts';
import type { PagedList } from '../pages.ts';
import { isInside } from './session-columns.ts';

/** Which sessions a list has: all of a location, or only those that are open, or only those that have ended. */
interface SessionsQuestion {
  ownerId: string;
  inside: true | undefined;
  ended: true | undefined;
}

/** The reads of parking activity over one database. */
export type ParkingReads = ReturnType<typeof createParkingReads>;

/** Prepares the reads of events and sessions. Those of one turn of the event loop are joined. */
export function createParkingReads({ sql, kind }: Pick<Database, 'sql' | 'kind'>) {
  const owner = { table: 'Location', column: 'locationId' } as const;
  const events = createKeysetList<ParkingEvent, { ownerId: string }>(sql, {
    kind,
    table: 'ParkingEvent',
    fields: Prisma.ParkingEventScalarFieldEnum,
    owner,
  });
  const sessions = createKeysetList<ParkingSession, SessionsQuestion>(sql, {
    kind,
    table: 'ParkingSession',
    fields: Prisma.ParkingSessionScalarFieldEnum,
    // A session whose longest stay is over is not open, from that instant on.
    expressions: { open: isInside('r') },
    owner,
    // Two filters, since each has an index of its own.
    filters: {
      inside: { type: 'boolean', condition: `q.inside AND ${isInside('r')}`, hasIndex: true },
      ended: { type: 'boolean', condition: `q.ended AND NOT ${isInside('r')}`, hasIndex: true },
    },
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
      listOfLocation(sessions, key, {
        ownerId: locationId,
        inside: open === true || undefined,
        ended: open === false || undefined,
      }),
  };
}
