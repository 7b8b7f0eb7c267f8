import type { Location } from '../../prisma/generated/client/client.ts';
import type { ChangeAuthor } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { partsWithin } from '../database/parts.ts';
import { type ChangedPlate, refreshSessions } from './refresh-sessions.ts';
import { endOf, startOf } from './session-columns.ts';
import { familyOf } from './session-statements.ts';

/**
 * How many sessions are computed in one step, because their observations are held in memory. The sessions of one family
 * of plates are always computed together, even if there are more.
 */
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

/** A family of plates with changed sessions, the time of the first change, and the number of these sessions. */
type LongFamily = ChangedPlate & { sessions: number };

/**
 * Finds the families of plates with sessions that were open for at least `$hours` hours. Only these families depend on
 * the maximum stay. The result has one row for each family, so that the history of a family is read once.
 */
const longFamilies = namedStatement(
  'parking-families-long',
  `
  SELECT DISTINCT ON (${familyOf('s')}) s."plateType", s."plateCode", s."plateNumber", ${startOf('s')} AS "occurredAt",
    true AS "wholeFamily", count(*) OVER (PARTITION BY ${familyOf('s')})::int AS sessions
  FROM "ParkingSession" s
  WHERE s."locationId" = $locationId
    AND least(${endOf('s')}, now()) >= ${startOf('s')} + make_interval(hours => $hours::int)
  ORDER BY ${familyOf('s')}, 4`,
);

/**
 * Computes the sessions of a location again after its maximum stay was changed, as if the location had always had the
 * new maximum stay. The location must be locked in the caller's transaction.
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
  const families = await queryInTransaction<LongFamily>(transaction, longFamilies, { locationId, hours });
  for (const part of partsWithin(sessionsPerRefresh, families, ({ sessions }) => sessions)) {
    await refreshSessions(transaction, author, after, part, now);
  }
}
