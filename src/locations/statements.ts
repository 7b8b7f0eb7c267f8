import type { Location } from '../../prisma/generated/client/client.ts';
import { scopeCondition } from '../auth/scope.ts';
import { talliedOf } from '../database/location-tally.ts';
import { namedStatement } from '../database/named-statement.ts';
import { occupancyColumns, type OccupancyParts } from '../parking/occupancy-columns.ts';

// The SQL statements that read the statuses of locations.

/** Reads the ids of all locations in the scope of an API key. */
export const idsReached = namedStatement(
  'location-ids-reached',
  `SELECT l.id FROM "Location" l WHERE ${scopeCondition('l')} ORDER BY l.id`,
);

/** A row of the query result, with the columns from which the gateway computes the status of one location. */
export interface StatusRow
  extends OccupancyParts, Pick<Location, 'id' | 'slug' | 'name' | 'capacity' | 'updatedAt'> {
  whitelistedVehicles: number;
  lastActivityAt: Date | null;
  lastCountedAt: Date | null;
}

/**
 * Reads the columns from which the gateway computes the statuses of given locations. The location ids are in a
 * subquery, because PostgreSQL must not know the number of ids when it plans the SQL statement. Without the subquery,
 * PostgreSQL would know how many location ids there are, and would make a new query plan for each execution. The stored
 * plan assumes ten ids, so a new plan for fewer location ids would seem much cheaper to PostgreSQL.
 */
export const statusesById = namedStatement(
  'location-statuses-by-id',
  `
    SELECT l.id, l.slug, l.name, l.capacity, l."updatedAt",
      ${occupancyColumns('l.id')},
      (SELECT max(e."occurredAt") FROM "ParkingEvent" e WHERE e."locationId" = l.id) AS "lastActivityAt",
      (SELECT max(c."countedAt") FROM "OccupancyCount" c WHERE c."locationId" = l.id) AS "lastCountedAt",
      ${talliedOf('l.id', 'entries')}::int AS "whitelistedVehicles"
    FROM "Location" l WHERE l.id = ANY((SELECT $ids::text[])::text[])`,
);
