import type { Location } from '../../prisma/generated/client/client.ts';
import type { ChangeAuthor, Transaction } from '../audit/record.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { type PlaceOfChange, refreshSessions } from './refresh-sessions.ts';
import { endOf, startOf } from './session-columns.ts';

/** How many sessions are derived again at a time: what they depend on is in memory then. */
const sessionsPerRefresh = 500;

const setEnds = namedStatement(
  'parking-sessions-longest-stay',
  `
  UPDATE "ParkingSession" s SET "staysUntil" = ${startOf('s')} + make_interval(hours => $hours::int)
  WHERE s."locationId" = $locationId AND s.open`,
);

const setFades = namedStatement(
  'occupancy-counts-longest-stay',
  `
  UPDATE "OccupancyCount" SET "fadesAt" = "countedAt" + make_interval(hours => $hours::int)
  WHERE "locationId" = $locationId AND kind = 'NUMBER'`,
);

/**
 * The sessions that are or were open for so many hours, by their start: only those differ from one longest stay to
 * another.
 */
const longSessions = namedStatement(
  'parking-sessions-long',
  `
  SELECT s."plateType", s."plateCode", s."plateNumber", ${startOf('s')} AS "occurredAt" FROM "ParkingSession" s
  WHERE s."locationId" = $locationId
    AND least(${endOf('s')}, now()) >= ${startOf('s')} + make_interval(hours => $hours::int)
  ORDER BY 4`,
);

/**
 * Derives the sessions of a location again when its longest stay has changed: they are then as if it had always been what
 * it is now. Called in the transaction of the change, which has locked the location.
 *
 * @param now by the clock of the database
 */
export async function applyLongestStay(
  transaction: Transaction,
  author: ChangeAuthor,
  { before, after }: { before: Location; after: Location },
  now: Date,
): Promise<void> {
  const { id: locationId, longestStayHours } = after;
  await queryInTransaction(transaction, setEnds, { locationId, hours: longestStayHours });
  await queryInTransaction(transaction, setFades, { locationId, hours: longestStayHours });
  const hours = Math.min(before.longestStayHours ?? Infinity, longestStayHours ?? Infinity);
  const long = await queryInTransaction<PlaceOfChange>(transaction, longSessions, { locationId, hours });
  // The earliest first: what is derived later builds on it.
  for (let start = 0; start < long.length; start += sessionsPerRefresh) {
    await refreshSessions(transaction, author, after, long.slice(start, start + sessionsPerRefresh), now);
  }
}
