import { type ParkingEvent, type ParkingSession, Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import type { Database } from '../database/types.ts';
import { listOfLocation } from '../location-access/list-of-location.ts';
import type { PagedList } from '../paging.ts';
import { isInside } from './session-columns.ts';

/**
 * A query that reads the parking sessions of a location. The query selects all parking sessions of the location, only
 * its open sessions, or only its ended sessions.
 */
interface SessionsQuestion {
  ownerId: string;
  inside: true | undefined;
  ended: true | undefined;
}

/** The functions that read parking events and sessions from the database. */
export type ParkingReads = ReturnType<typeof createParkingReads>;

/**
 * Creates the functions that read parking events and sessions. If callers call a function several times in one
 * iteration of the event loop, the gateway reads the results for all calls with one SQL statement.
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
    // A parking session is no longer open after the end of its maximum stay.
    expressions: { open: isInside('r') },
    owner,
    // The filters for open and for ended parking sessions are separate, because each filter uses a different database
    // index.
    filters: {
      inside: { type: 'boolean', condition: `q.inside AND ${isInside('r')}`, hasIndex: true },
      ended: { type: 'boolean', condition: `q.ended AND NOT ${isInside('r')}`, hasIndex: true },
    },
  });

  return {
    /**
     * Lists the parking events of a location. If the location is outside the API key's scope, reading a page of the
     * returned list throws the error `NOT_FOUND`.
     */
    eventsOf: (key: AuthenticatedKey, locationId: string): PagedList<ParkingEvent> =>
      listOfLocation(events, key, { ownerId: locationId }),

    /**
     * Lists the parking sessions of a location. If the location is outside the API key's scope, reading a page of the
     * returned list throws the error `NOT_FOUND`.
     *
     * @param open if true, the list contains only sessions whose vehicle is inside; if false, only sessions whose
     *   vehicle is not inside; if omitted, all sessions
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
