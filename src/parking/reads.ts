import { type ParkingEvent, type ParkingSession, Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import type { Database } from '../database/types.ts';
import { listOfLocation } from '../location-access/list-of-location.ts';
import type { PagedList } from '../paging.ts';
import { isInside } from './session-columns.ts';

/** A query for the sessions of a location. It selects all sessions, only open sessions, or only ended sessions. */
interface SessionsQuestion {
  ownerId: string;
  inside: true | undefined;
  ended: true | undefined;
}

/** The functions that read parking events and sessions from one database. */
export type ParkingReads = ReturnType<typeof createParkingReads>;

/**
 * Creates the functions that read parking events and sessions. One SQL statement answers all calls in the same
 * iteration of the event loop.
 */
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
    // When its maximum stay is over, a session is no longer open.
    expressions: { open: isInside('r') },
    owner,
    // There is one filter for open sessions and another for ended sessions, because each has its own database index.
    filters: {
      inside: { type: 'boolean', condition: `q.inside AND ${isInside('r')}`, hasIndex: true },
      ended: { type: 'boolean', condition: `q.ended AND NOT ${isInside('r')}`, hasIndex: true },
    },
  });

  return {
    /** Lists the events of a location. Reading a page throws `NOT_FOUND` for a location outside the key's scope. */
    eventsOf: (key: AuthenticatedKey, locationId: string): PagedList<ParkingEvent> =>
      listOfLocation(events, key, { ownerId: locationId }),

    /**
     * Lists the sessions of a location. Reading a page throws `NOT_FOUND` for a location outside the key's scope.
     *
     * @param open true for sessions whose vehicle is inside, false for all other sessions; when omitted, all sessions
     *   are returned
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
