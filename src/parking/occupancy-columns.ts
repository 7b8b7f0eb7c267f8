import { talliedOf } from '../database/location-tally.ts';
import { endOf, isInside, isUncertain, wasOpenAt } from './session-columns.ts';

// SQL for the last count and the occupancy of a location. Each function takes an SQL expression for the id of a
// location.

/**
 * SQL for the last occupancy count of a location: a list of the vehicles inside, or only the number of vehicles inside.
 */
export const lastCountOf = (locationId: string) => `
  SELECT * FROM "OccupancyCount" WHERE "locationId" = ${locationId} ORDER BY "countedAt" DESC, kind DESC LIMIT 1`;

/**
 * SQL for the time of the last occupancy count. The time is null if the person who counted named each vehicle inside,
 * or if the count equals the number of open sessions. Retention must keep the sessions that ended after such a count,
 * because the occupancy adjustment (`adjustmentOf`) depends on these sessions.
 */
export const differenceSince = (locationId: string) => `(
  SELECT k."countedAt" FROM (${lastCountOf(locationId)}) k WHERE k.kind = 'NUMBER' AND k.occupied <> k."openSessions")`;

/**
 * SQL for the current occupancy adjustment of a location. The adjustment is 0 unless the last occupancy count reported
 * only the number of vehicles inside. After such a count, the adjustment is the counted number minus the number of
 * sessions that were open at the time of the count. Each later exit of a vehicle, or end of a session, can bring the
 * adjustment closer to 0.
 *
 * - If the last count had more vehicles than there were open sessions, the occupancy adjustment is positive. Each later
 *   exit of a vehicle without an open session reduces this positive adjustment by 1. The occupancy adjustment becomes 0
 *   when the maximum stay has passed since the occupancy count.
 * - If the last occupancy count found fewer vehicles than open sessions, the occupancy adjustment is negative. When one
 *   of the sessions that were open at the count ends without an exit, the negative adjustment rises by 1, towards 0.
 *   The negative adjustment reduces the occupancy by at most the number of sessions that were open at the count and are
 *   still open.
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
      count(*) FILTER (WHERE s."exitedAt" IS NOT NULL
        AND (s."enteredAt" IS NULL AND s."countedAt" IS NULL OR s."staysUntil" <= k."countedAt")) AS "unknownExits",
      count(*) FILTER (WHERE s."exitedAt" IS NULL AND NOT ${isInside('s')} AND ${wasOpenAt('s', 'k."countedAt"')}) AS "unseenEnds",
      count(*) FILTER (WHERE ${isInside('s')} AND ${wasOpenAt('s', 'k."countedAt"')}) AS "stillOpen"
    FROM "ParkingSession" s
    WHERE s."locationId" = k."locationId" AND ${endOf('s')} > k."countedAt" AND ${isUncertain('s')}
  ) since
  WHERE k.kind = 'NUMBER' AND k.occupied <> k."openSessions"
), 0)::int`;

/**
 * SQL for the two columns from which `occupiedOf` computes the current occupancy of a location. The SQL reads the
 * number of open sessions, which database triggers maintain (docs/decisions/location-tallies.md). A vehicle whose
 * maximum stay is over does not count as inside, so the SQL subtracts the number of such open sessions.
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
   * The number of vehicles inside minus the number of open sessions; negative when fewer vehicles are inside than
   * sessions are open.
   */
  adjustment: number;
}
