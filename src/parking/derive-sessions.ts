import type { ParkingEvent } from '../prisma/generated/client/client.ts';
import type { Transaction } from './audit.ts';

/**
 * The sessions of a plate, from the last entry before a time on, as its events make them. Sessions are a
 * function of the events alone, in whatever order those arrived: sorted by the time at which they occurred
 * (an entry before an exit of the same instant, then by `eventId`), each entry starts a session, which the
 * next event ends if it is an exit; an exit that follows no entry is a session without an entry.
 *
 * The session of an entry depends only on what follows, so that nothing before that entry needs a look.
 */
const refresh = `
  WITH ordered AS (
    SELECT e.*, lag(kind) OVER place AS "previousKind", lead(kind) OVER place AS "nextKind",
      lead("occurredAt") OVER place AS "nextOccurredAt"
    FROM "ParkingEvent" e
    WHERE "locationId" = $1 AND "plateType" = $2 AND "plateCode" = $3 AND "plateNumber" = $4
      AND "occurredAt" >= coalesce((
        SELECT max(f."occurredAt") FROM "ParkingEvent" f
        WHERE f."locationId" = $1 AND f."plateType" = $2 AND f."plateCode" = $3 AND f."plateNumber" = $4
          AND f.kind = 'ENTRY' AND f."occurredAt" < $5::timestamptz
      ), '-infinity')
    WINDOW place AS (ORDER BY "occurredAt", kind, "eventId")
  ), stays AS (
    SELECT id, "locationId", "plateType", "plateCode", "plateNumber",
      CASE kind WHEN 'ENTRY' THEN "occurredAt" END AS "enteredAt",
      CASE WHEN kind = 'EXIT' THEN "occurredAt" WHEN "nextKind" = 'EXIT' THEN "nextOccurredAt" END AS "exitedAt",
      kind = 'ENTRY' AND "nextKind" IS NULL AS open, "whitelistEntryId", listed
    FROM ordered
    WHERE kind = 'ENTRY' OR "previousKind" IS DISTINCT FROM 'ENTRY'
  ), removed AS (
    DELETE FROM "ParkingSession" s USING ordered
    WHERE s.id = ordered.id AND NOT EXISTS (SELECT FROM stays WHERE stays.id = s.id)
  )
  INSERT INTO "ParkingSession" AS s (id, "locationId", "plateType", "plateCode", "plateNumber", "enteredAt",
    "exitedAt", open, "whitelistEntryId", listed)
  SELECT * FROM stays
  ON CONFLICT (id) DO UPDATE SET "plateType" = excluded."plateType", "plateCode" = excluded."plateCode",
    "plateNumber" = excluded."plateNumber", "enteredAt" = excluded."enteredAt", "exitedAt" = excluded."exitedAt",
    open = excluded.open, "whitelistEntryId" = excluded."whitelistEntryId", listed = excluded.listed`;

/** A place among the events of a plate. */
export type PlaceOfEvent = Pick<
  ParkingEvent,
  'locationId' | 'plateType' | 'plateCode' | 'plateNumber' | 'occurredAt'
>;

/**
 * Brings the sessions of a plate in line with its events after one came, or went, at a place. Called in the
 * transaction of that change, which holds the location.
 */
export async function refreshSessions(transaction: Transaction, place: PlaceOfEvent): Promise<void> {
  const { locationId, plateType, plateCode, plateNumber, occurredAt } = place;
  await transaction.$executeRawUnsafe(
    refresh,
    locationId,
    plateType,
    plateCode,
    plateNumber,
    occurredAt.toISOString(),
  );
}
