import { namedStatement } from '../database/named-statement.ts';
import { lastCountOf, occupancyColumns } from './occupancy-columns.ts';
import { endOf, startOf, wasOpenAt } from './session-columns.ts';

// The SQL statements that read the occupancy of a location, and that store counts of the vehicles inside.

/** Reads the two numbers from which `occupiedOf` computes the current occupancy of a location. */
export const occupancy = namedStatement('location-occupancy', `SELECT ${occupancyColumns('$locationId')}`);

/**
 * If the last occupancy count contains no plates, counts again how many sessions were open at its time. The stored
 * number of open sessions becomes wrong when the gateway later records or corrects an event from before the occupancy
 * count.
 */
export const recount = namedStatement(
  'occupancy-count-sessions',
  `
  UPDATE "OccupancyCount" k SET "openSessions" = (
    SELECT count(*) FROM "ParkingSession" s
    WHERE s."locationId" = k."locationId" AND ${endOf('s')} > k."countedAt" AND ${wasOpenAt('s', 'k."countedAt"')}
  )
  WHERE k.id = (SELECT last.id FROM (${lastCountOf('$locationId')}) last) AND k.kind = 'NUMBER'
    AND k."countedAt" >= (SELECT min(changed) FROM unnest($changedAt::timestamptz[]) changed)`,
);

/**
 * Finds the vehicles that had an open session at a given time. An occupancy count for this time may end their sessions.
 */
export const insideAt = namedStatement(
  'parking-plates-inside-at',
  `
  SELECT s."plateType", s."plateCode", s."plateNumber" FROM "ParkingSession" s
  WHERE s."locationId" = $locationId AND ${startOf('s')} <= $countedAt::timestamptz AND ${endOf('s')} >= $countedAt::timestamptz`,
);

/** Removes plates from a count of the vehicles inside, and adds plates to the count. */
export const writePlates = namedStatement(
  'parking-counted-plates-write',
  `
  WITH dropped AS (DELETE FROM "CountedPlate" WHERE id = ANY($dropped::text[]))
  INSERT INTO "CountedPlate" (id, "countId", "plateType", "plateCode", "plateNumber", "whitelistEntryId", listed)
  SELECT p.id, $countId, p."plateType", p."plateCode", p."plateNumber", p."whitelistEntryId", p.listed
  FROM unnest($id::text[], $plateType::text[], $plateCode::text[], $plateNumber::text[], $whitelistEntryId::text[],
    $listed::boolean[]) AS p(id, "plateType", "plateCode", "plateNumber", "whitelistEntryId", listed)`,
);
