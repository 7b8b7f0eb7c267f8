import { namedStatement } from '../database/named-statement.ts';
import { endOf, familyOf, startOf } from './session-columns.ts';

// The SQL statements for the maximum stay. Some of them end parking sessions and occupancy adjustments when the maximum
// stay is over, and others apply a new maximum stay.

/**
 * The maximum number of parking sessions that one transaction ends. Because of this limit, one transaction locks the
 * location for only a fraction of a second.
 */
export const maxSessionsPerTransaction = 500;

/**
 * Finds the locations in which an open parking session has reached its maximum stay, or in which an occupancy
 * adjustment is older than the maximum stay.
 */
export const overdueLocations = namedStatement(
  'parking-overdue-locations',
  `
  SELECT DISTINCT s."locationId" FROM "ParkingSession" s WHERE s.open AND s."staysUntil" <= now()
  UNION SELECT k."locationId" FROM "OccupancyCount" k WHERE k."fadesAt" <= now()`,
);

/** Ends those occupancy adjustments of a location that are older than the maximum stay at this location. */
export const endFades = namedStatement(
  'occupancy-counts-faded',
  `
  UPDATE "OccupancyCount" SET "fadesAt" = NULL
  WHERE "locationId" = $locationId AND "fadesAt" <= now() RETURNING id`,
);

/**
 * Reads up to `maxSessionsPerTransaction` parking sessions of a location. These sessions are still open although their
 * maximum stay is over.
 */
export const overdueSessions = namedStatement(
  'parking-overdue-sessions',
  `
  SELECT s."plateType", s."plateCode", s."plateNumber", s."staysUntil" AS "occurredAt" FROM "ParkingSession" s
  WHERE s."locationId" = $locationId AND s.open AND s."staysUntil" <= now()
  ORDER BY s."staysUntil", s.id LIMIT ${maxSessionsPerTransaction}`,
);

/** For each open session of a location, sets the time at which its maximum stay ends. */
export const setEnds = namedStatement(
  'parking-sessions-longest-stay',
  `
  UPDATE "ParkingSession" s SET "staysUntil" = ${startOf('s')} + make_interval(hours => $hours::int)
  WHERE s."locationId" = $locationId AND s.open`,
);

/**
 * After a change of the maximum stay of a location, sets the new end time of each occupancy adjustment of this
 * location.
 */
export const setFades = namedStatement(
  'occupancy-counts-longest-stay',
  `
  UPDATE "OccupancyCount" SET "fadesAt" = "countedAt" + make_interval(hours => $hours::int)
  WHERE "locationId" = $locationId AND kind = 'NUMBER'`,
);

/**
 * Finds the plate families (plates with the same last two characters) with at least one session of `$hours` hours or
 * more. The SQL parameter `$hours` is the shorter one of the old and the new maximum stay. If all parking sessions of a
 * plate family are shorter than `$hours` hours, a change of the maximum stay cannot affect these sessions. The result
 * has one row for each plate family (`familyOf`), so that the gateway reads the parking events of each family only
 * once. The time of an occupancy count may be up to a day in the future, so the SQL statement treats an open session as
 * if it ended one day from now.
 */
export const longFamilies = namedStatement(
  'parking-families-long',
  `
  SELECT DISTINCT ON (${familyOf('s')}) s."plateType", s."plateCode", s."plateNumber", ${startOf('s')} AS "occurredAt",
    true AS "wholeFamily", count(*) OVER (PARTITION BY ${familyOf('s')})::int AS sessions
  FROM "ParkingSession" s
  WHERE s."locationId" = $locationId
    AND least(${endOf('s')}, now() + interval '1 day') >= ${startOf('s')} + make_interval(hours => $hours::int)
  ORDER BY ${familyOf('s')}, 4`,
);
