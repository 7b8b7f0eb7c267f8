import type { ParkingEvent } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../audit/record.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { plateColumnList, samePlate } from '../whitelist/columns.ts';

/**
 * The sessions of plates, each from the last entry before its first changed event on, as their events make them. Sessions are a
 * function of the events alone, in whatever order those arrived: sorted by the time at which they occurred
 * (an entry before an exit of the same instant, then by `eventId`), each entry starts a session, which the
 * next event ends if it is an exit; an exit that follows no entry is a session without an entry.
 *
 * The session of an entry depends only on what follows it, so nothing before that entry has to be read.
 */
const refresh = namedStatement(
  'parking-sessions-refresh',
  `
  WITH changed AS (
    SELECT ${plateColumnList()}, min("occurredAt") AS "occurredAt"
    FROM unnest($plateType::text[], $plateCode::text[], $plateNumber::text[], $occurredAt::timestamptz[])
      AS c(${plateColumnList()}, "occurredAt")
    GROUP BY ${plateColumnList()}
  ), ordered AS (
    SELECT e.*, lag(e.kind) OVER place AS "previousKind", lead(e.kind) OVER place AS "nextKind",
      lead(e."occurredAt") OVER place AS "nextOccurredAt"
    FROM changed c
    CROSS JOIN LATERAL (
      SELECT coalesce(max(f."occurredAt"), '-infinity') AS start FROM "ParkingEvent" f
      WHERE f."locationId" = $locationId AND ${samePlate('f', 'c')}
        AND f.kind = 'ENTRY' AND f."occurredAt" < c."occurredAt"
    ) earlier
    JOIN "ParkingEvent" e
      ON e."locationId" = $locationId AND ${samePlate('e', 'c')} AND e."occurredAt" >= earlier.start
    WINDOW place AS (PARTITION BY ${plateColumnList('e')} ORDER BY e."occurredAt", e.kind, e."eventId")
  ), stays AS (
    SELECT id, "locationId", "plateType", "plateCode", "plateNumber",
      CASE kind WHEN 'ENTRY' THEN "occurredAt" END AS "enteredAt",
      CASE WHEN kind = 'EXIT' THEN "occurredAt" WHEN "nextKind" = 'EXIT' THEN "nextOccurredAt" END AS "exitedAt",
      kind = 'ENTRY' AND "nextKind" IS NULL AS open, "whitelistEntryId", listed
    FROM ordered
    WHERE kind = 'ENTRY' OR "previousKind" IS DISTINCT FROM 'ENTRY'
  ), removed AS (
    DELETE FROM "ParkingSession" s USING ordered
    WHERE s.id = ordered.id AND s.id NOT IN (SELECT id FROM stays)
  )
  INSERT INTO "ParkingSession" AS s (id, "locationId", "plateType", "plateCode", "plateNumber", "enteredAt",
    "exitedAt", open, "whitelistEntryId", listed)
  SELECT * FROM stays
  ON CONFLICT (id) DO UPDATE SET "plateType" = excluded."plateType", "plateCode" = excluded."plateCode",
    "plateNumber" = excluded."plateNumber", "enteredAt" = excluded."enteredAt", "exitedAt" = excluded."exitedAt",
    open = excluded.open, "whitelistEntryId" = excluded."whitelistEntryId", listed = excluded.listed`,
);

/** Which plate, and the time of an event of it. */
type PlaceOfEvent = Pick<ParkingEvent, 'plateType' | 'plateCode' | 'plateNumber' | 'occurredAt'>;

/**
 * Derives the sessions of plates again after events of them were added, changed or removed. Called in the
 * transaction of that change, which has locked the location.
 *
 * @param places the events as they were, and as they are
 */
export async function refreshSessions(
  transaction: Transaction,
  locationId: string,
  places: readonly PlaceOfEvent[],
): Promise<void> {
  await queryInTransaction(transaction, refresh, {
    locationId,
    plateType: places.map(({ plateType }) => plateType),
    plateCode: places.map(({ plateCode }) => plateCode),
    plateNumber: places.map(({ plateNumber }) => plateNumber),
    occurredAt: places.map(({ occurredAt }) => occurredAt),
  });
}
