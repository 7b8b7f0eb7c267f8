import { namedStatement } from '../database/named-statement.ts';
import { lastCountOf, occupancyColumns } from './occupancy-columns.ts';
import { endOf, isOpenAt, startOf } from './session-columns.ts';

// The SQL statements that read the occupancy of a location, and that store occupancy counts.

/** Reads the two numbers from which `occupiedOf` computes the current occupancy of a location. */
export const occupancy = namedStatement('location-occupancy', `SELECT ${occupancyColumns('$locationId')}`);

/** Stores how many sessions were open at the time of a new occupancy count without plates. */
export const countOpenSessions = namedStatement(
  'occupancy-count-sessions',
  `
  UPDATE "OccupancyCount" k SET "openSessions" = (
    SELECT count(*) FROM "ParkingSession" s
    WHERE s."locationId" = k."locationId" AND ${isOpenAt('s', 'k."countedAt"')}
  )
  WHERE k.id = $countId`,
);

/**
 * When parking sessions change, updates the column `openSessions` of the last occupancy count. If the last occupancy
 * count contains plates, the SQL statement does not change this count. The SQL statement must run before the gateway
 * writes the changed parking sessions, because the SQL statement compares these sessions with the stored sessions. The
 * SQL statement reads the old and the new values of each changed parking session. With these values, it checks which
 * sessions are open at the time of the occupancy count. The SQL statement adds to the column `openSessions` the number
 * of sessions that are open with the new values, minus the number of sessions that are open with the old values. If the
 * statement counted all parking sessions again, the column could get a count that is too low, because the retention job
 * may have removed some of the sessions.
 */
export const updateOpenSessions = namedStatement(
  'occupancy-count-sessions-change',
  `
  UPDATE "OccupancyCount" k SET "openSessions" = k."openSessions" + (
    SELECT count(*) FROM unnest($enteredAt::timestamptz[], $countedAt::timestamptz[], $exitedAt::timestamptz[],
      $endedAt::timestamptz[], $staysUntil::timestamptz[]) AS s("enteredAt", "countedAt", "exitedAt", "endedAt", "staysUntil")
    WHERE ${isOpenAt('s', 'k."countedAt"')}
  ) - (
    SELECT count(*) FROM "ParkingSession" s
    WHERE s.id = ANY($id::text[] || $removed::text[]) AND ${isOpenAt('s', 'k."countedAt"')}
  )
  WHERE k.id = (SELECT last.id FROM (${lastCountOf('$locationId')}) last) AND k.kind = 'NUMBER'`,
);

/**
 * Finds the vehicles that had an open session at a given time. An occupancy count for the given time ends the sessions
 * of those vehicles that the count does not include.
 */
export const insideAt = namedStatement(
  'parking-plates-inside-at',
  `
  SELECT s."plateType", s."plateCode", s."plateNumber" FROM "ParkingSession" s
  WHERE s."locationId" = $locationId AND ${startOf('s')} <= $countedAt::timestamptz AND ${endOf('s')} >= $countedAt::timestamptz`,
);

/** Adds plates to an occupancy count. */
export const insertPlates = namedStatement(
  'parking-counted-plates-insert',
  `
  INSERT INTO "CountedPlate" (id, "countId", "plateType", "plateCode", "plateNumber", "whitelistEntryId", listed)
  SELECT p.id, $countId, p."plateType", p."plateCode", p."plateNumber", p."whitelistEntryId", p.listed
  FROM unnest($id::text[], $plateType::text[], $plateCode::text[], $plateNumber::text[], $whitelistEntryId::text[],
    $listed::boolean[]) AS p(id, "plateType", "plateCode", "plateNumber", "whitelistEntryId", listed)`,
);
