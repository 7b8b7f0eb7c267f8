import { talliedOf } from '../database/location-tally.ts';
import { endOf, isInside, isUncertain, wasOpenAt } from './session-columns.ts';

// SQL for the last occupancy count and the current occupancy of a location. The parameter `locationId` is an SQL
// expression for the id of the location.

/**
 * SQL that reads the last occupancy count of a location. An occupancy count contains a list of the vehicles inside, or
 * only the number of vehicles inside.
 */
export const lastCountOf = (locationId: string) => `
  SELECT * FROM "OccupancyCount" WHERE "locationId" = ${locationId} ORDER BY "countedAt" DESC, kind DESC LIMIT 1`;

/**
 * The SQL condition for sessions whose exit brings a positive occupancy adjustment (`adjustmentOf`) closer to 0. The
 * condition is true if the vehicle left without a recorded entry, and no occupancy count included the vehicle. The
 * condition is also true if the vehicle left, and its maximum stay was already over at the time of the last occupancy
 * count. An SQL statement must use `isUnknownExit` only for sessions that ended after the last occupancy count.
 */
const isUnknownExit = (session: string, countedAt: string) => `(${session}."exitedAt" IS NOT NULL
  AND (${session}."enteredAt" IS NULL AND ${session}."countedAt" IS NULL OR ${session}."staysUntil" <= ${countedAt}))`;

/**
 * The SQL condition for sessions whose end brings a negative occupancy adjustment (`adjustmentOf`) closer to 0. The
 * condition is true if the session was open at the time of the last occupancy count, and ended without a recorded exit.
 * An SQL statement must use `isUnseenEnd` only for sessions that ended after the last occupancy count.
 */
const isUnseenEnd = (session: string, countedAt: string) =>
  `(${session}."exitedAt" IS NULL AND NOT ${isInside(session)} AND ${wasOpenAt(session, countedAt)})`;

/**
 * SQL for the current occupancy adjustment of a location. If the last occupancy count contained plates, the occupancy
 * adjustment is 0. After an occupancy count without plates, the occupancy adjustment is the counted number of vehicles
 * minus the number of open sessions at the time of the count. Not every vehicle that leaves after the count changes the
 * occupancy adjustment. The next two paragraphs describe when the occupancy adjustment moves towards 0.
 *
 * A positive occupancy adjustment means that vehicles are inside without an open parking session. When a vehicle
 * without a recorded entry leaves, a positive occupancy adjustment decreases by 1. The exit of a vehicle whose maximum
 * stay was already over at the time of the occupancy count also decreases a positive occupancy adjustment by 1. When
 * the maximum stay has passed since the occupancy count, a positive occupancy adjustment becomes 0.
 *
 * A negative occupancy adjustment means that some open parking sessions have no vehicle inside. Each parking session
 * that was open at the time of the occupancy count and ends without a recorded exit moves a negative occupancy
 * adjustment towards 0 by 1. A negative occupancy adjustment subtracts at most the number of parking sessions that have
 * stayed open since the occupancy count.
 */
const adjustmentOf = (locationId: string) => `coalesce((
  SELECT CASE
    WHEN k.occupied < k."openSessions"
      THEN -greatest(least(k."openSessions" - k.occupied - since."unseenEnds", since."stillOpen"), 0)
    WHEN k."countedAt" + make_interval(hours => l."longestStayHours") <= now() THEN 0
    ELSE greatest(k.occupied - k."openSessions" - since."unknownExits", 0)
  END
  FROM (${lastCountOf(locationId)}) k
  JOIN "Location" l ON l.id = k."locationId"
  CROSS JOIN LATERAL (
    SELECT
      count(*) FILTER (WHERE ${isUnknownExit('s', 'k."countedAt"')}) AS "unknownExits",
      count(*) FILTER (WHERE ${isUnseenEnd('s', 'k."countedAt"')}) AS "unseenEnds",
      count(*) FILTER (WHERE ${isInside('s')} AND ${wasOpenAt('s', 'k."countedAt"')}) AS "stillOpen"
    FROM "ParkingSession" s
    WHERE s."locationId" = k."locationId" AND ${endOf('s')} > k."countedAt" AND ${isUncertain('s')}
  ) since
  WHERE k.kind = 'NUMBER' AND k.occupied <> k."openSessions"
), 0)::int`;

/**
 * SQL that runs before ended parking sessions are deleted. The SQL updates the occupancy counts, because the deletion
 * must not change the occupancy adjustments (`adjustmentOf`). A parking session that meets the condition
 * `isUnknownExit` or `isUnseenEnd` changes the occupancy adjustment of its location by 1. Without this SQL, the
 * deletion of such a parking session would change the occupancy adjustment by 1. The SQL therefore changes the column
 * `openSessions` of the last occupancy count by 1, because the occupancy adjustment also depends on this column.
 *
 * @param deleted an SQL query that returns the ids of the parking sessions to delete; these sessions must still exist
 *   when the SQL runs
 */
export const keepAdjustments = (deleted: string) => `
  UPDATE "OccupancyCount" k SET "openSessions" = CASE
    WHEN k.occupied < k."openSessions" THEN greatest(k."openSessions" - d."unseenEnds", k.occupied)
    ELSE least(k."openSessions" + d."unknownExits", k.occupied)
  END
  FROM (
    SELECT last.id,
      count(*) FILTER (WHERE ${isUnknownExit('s', 'last."countedAt"')}) AS "unknownExits",
      count(*) FILTER (WHERE ${isUnseenEnd('s', 'last."countedAt"')}) AS "unseenEnds"
    FROM "ParkingSession" s CROSS JOIN LATERAL (${lastCountOf('s."locationId"')}) last
    WHERE s.id IN (${deleted}) AND ${endOf('s')} > last."countedAt"
    GROUP BY last.id
  ) d
  WHERE k.id = d.id AND k.kind = 'NUMBER' AND k.occupied <> k."openSessions"`;

/**
 * SQL for the two columns from which `occupiedOf` computes the current occupancy of a location. The SQL reads the
 * stored number of open parking sessions. Database triggers maintain the stored number of open parking sessions
 * (docs/decisions/location-tallies.md). Some parking sessions are still marked as open although their maximum stay is
 * over. The SQL subtracts the number of sessions whose maximum stay is over, because their vehicles do not count as
 * inside.
 */
export const occupancyColumns = (locationId: string) => `
  (${talliedOf(locationId, 'openSessions')} - (
    SELECT count(*) FROM "ParkingSession" s
    WHERE s."locationId" = ${locationId} AND s.open AND s."staysUntil" <= now()))::int AS "openSessions",
  ${adjustmentOf(locationId)} AS adjustment`;

/** The two numbers whose sum is the occupancy of a location. */
export interface OccupancyParts {
  openSessions: number;
  /**
   * The number of vehicles inside minus the number of open parking sessions. For example, the occupancy adjustment is
   * -2 for 8 vehicles inside and 10 open parking sessions.
   */
  adjustment: number;
}
