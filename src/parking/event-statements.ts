import { type ParkingEvent, Prisma } from '../../prisma/generated/client/client.ts';
import { modelColumns, upsertRows } from '../database/columns.ts';
import { namedStatement } from '../database/named-statement.ts';
import { entryColumns, samePlate } from '../whitelist/columns.ts';

// The SQL statements that record parking events. These SQL statements find the whitelist entries of parking events,
// write the parking events, and count how often each vehicle has entered.

/** The columns of a parking event, with their types in PostgreSQL. */
const eventColumnTypes = {
  id: 'text',
  locationId: 'text',
  eventId: 'text',
  kind: '"ParkingEventKind"',
  plateType: 'text',
  plateCode: 'text',
  plateNumber: 'text',
  text: 'text',
  confidence: 'float8',
  occurredAt: 'timestamptz',
  decision: '"AccessReason"',
  whitelistEntryId: 'text',
  listed: 'boolean',
  overQuota: 'boolean',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
} as const satisfies Record<keyof ParkingEvent, string>;

/** The names of the columns of a parking event. */
export const eventColumns = Object.keys(eventColumnTypes) as (keyof ParkingEvent)[];

/** Writes new and corrected parking events to the database. */
export const writeEvents = namedStatement(
  'parking-events-write',
  upsertRows('ParkingEvent', eventColumnTypes),
);

/** Finds the already recorded parking events of a location by the event ids that a gate sent (`eventId`). */
export const knownEvents = namedStatement(
  'parking-events-known',
  `
  SELECT ${modelColumns(Prisma.ParkingEventScalarFieldEnum, 'e')} FROM "ParkingEvent" e
  WHERE e."locationId" = $locationId AND e."eventId" = ANY($eventIds::text[])`,
);

/** Finds the whitelist entries of a location by the ids that a gate sent. */
export const namedEntries = namedStatement(
  'parking-named-entries',
  'SELECT e.id FROM "WhitelistEntry" e WHERE e."locationId" = $locationId AND e.id = ANY($entryIds::text[])',
);

/**
 * Finds the whitelist entry of each parking event. If the gate sent the id of a whitelist entry, the statement uses
 * this whitelist entry. If the gate sent no whitelist entry id, the statement uses the whitelist entry with the plate
 * of the parking event.
 */
export const matchingEntries = namedStatement(
  'parking-matching-entries',
  `
  WITH q AS (
    SELECT * FROM unnest($entryId::text[], $plateType::text[], $plateCode::text[], $plateNumber::text[])
      WITH ORDINALITY AS q("entryId", "plateType", "plateCode", "plateNumber", n)
  )
  SELECT q.n::int, ${entryColumns('e')} FROM q
  JOIN "WhitelistEntry" e ON e."locationId" = $locationId AND ${samePlate('e', 'q')}
  WHERE q."entryId" IS NULL
  UNION ALL
  SELECT q.n::int, ${entryColumns('e')} FROM q
  JOIN "WhitelistEntry" e ON e."locationId" = $locationId AND e.id = q."entryId"`,
);

/**
 * Updates the table `WhitelistEntryUse`, which stores how often the vehicle of each whitelist entry has entered. If a
 * whitelist entry has `maxEntries`, the statement also marks the entry as changed. For each whitelist entry that is
 * marked as changed, the whitelist feed tells clients how often the vehicle has entered. The statement first locks the
 * whitelist entry, and then the row of this entry in `WhitelistEntryUse`. The SQL statement that deletes a whitelist
 * entry also locks the whitelist entry first, and then its row in `WhitelistEntryUse`, so the two SQL statements cannot
 * deadlock.
 */
export const addUses = namedStatement(
  'parking-add-uses',
  `
  WITH changed AS (
    SELECT e.id, e."maxEntries", c.change FROM unnest($entryId::text[], $change::int[]) AS c("entryId", change)
    JOIN "WhitelistEntry" e ON e.id = c."entryId" AND e."locationId" = $locationId
    FOR KEY SHARE OF e
  ), lowered AS (
    UPDATE "WhitelistEntryUse" u SET recorded = greatest(u.recorded + c.change, 0)
    FROM changed c WHERE u."entryId" = c.id AND c.change < 0
  ), touched AS (
    UPDATE "WhitelistEntry" e SET version = e.version
    FROM changed c WHERE e.id = c.id AND c."maxEntries" IS NOT NULL
  )
  INSERT INTO "WhitelistEntryUse" AS u ("entryId", recorded)
  SELECT id, change FROM changed WHERE change > 0
  ON CONFLICT ("entryId") DO UPDATE SET recorded = u.recorded + excluded.recorded`,
);
