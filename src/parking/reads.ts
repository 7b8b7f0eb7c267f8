import { type ParkingEvent, type ParkingSession, Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import type { Database } from '../database/types.ts';
import { listOfLocation } from '../location-access/list-of-location.ts';
import type { PagedList } from '../paging.ts';
import { isInside } from './session-columns.ts';

/** Asks for the sessions of a location: all of them, only the open ones, or only those that have ended. */
interface SessionsQuestion {
  ownerId: string;
  inside: true | undefined;
  ended: true | undefined;
}

/** Reads parking activity from one database. */
export type ParkingReads = ReturnType<typeof createParkingReads>;

/** Creates the reads of events and sessions. Lookups in the same turn of the event loop share one statement. */
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
    // A session is not open from the instant on at which its longest stay is over.
    expressions: { open: isInside('r') },
    owner,
    // Two filters instead of one, because each has its own index.
    filters: {
      inside: { type: 'boolean', condition: `q.inside AND ${isInside('r')}`, hasIndex: true },
      ended: { type: 'boolean', condition: `q.ended AND NOT ${isInside('r')}`, hasIndex: true },
    },
  });

  return {
    /** The events of a location. A page is `NOT_FOUND` for a location outside the key's scope. */
    eventsOf: (key: AuthenticatedKey, locationId: string): PagedList<ParkingEvent> =>
      listOfLocation(events, key, { ownerId: locationId }),

    /**
     * The sessions of a location. A page is `NOT_FOUND` for a location outside the key's scope.
     *
     * @param open true for sessions whose vehicle is inside, false for the others; all sessions when omitted
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
