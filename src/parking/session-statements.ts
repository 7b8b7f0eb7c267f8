import { type CountedPlate, type ParkingSession, Prisma } from '../../prisma/generated/client/client.ts';
import { modelColumns, upsertRows } from '../database/columns.ts';
import { namedStatement } from '../database/named-statement.ts';
import { confusableForm } from '../whitelist/similar-plates.ts';
import type { GateObservation } from './derive-sessions.ts';
import { endOf, familyOf, startOf } from './session-columns.ts';

// SQL statements that read and write parking sessions. One SQL statement handles the parking sessions of many plates. A
// plate group consists of all plates with the same last three characters (`groupOf`). A plate family consists of all
// plates with the same last two characters (`familyOf`). All plates of one plate group belong to the same plate family.
// A query reads the parking sessions of a whole plate group or of a whole plate family.

/**
 * SQL for the plate group of a plate: the last three characters of its plate code and plate number. The gateway treats
 * characters that cameras confuse as one and the same character (`confusableForm`). A plate group is smaller than a
 * plate family (plates with the same last two characters, `familyOf`). A query for one plate group therefore reads
 * fewer rows.
 */
const groupOf = (alias: string) => confusableForm(`right(${alias}."plateCode" || ${alias}."plateNumber", 3)`);

/**
 * The SQL condition for plates whose plate code and plate number together have fewer than three characters. A camera
 * can confuse a short plate (fewer than three characters in plate code and plate number) with plates of several plate
 * groups. Because of this confusion, the gateway reads the whole plate family of a short plate: all plates with the
 * same last two characters (`familyOf`).
 */
const isShort = (alias: string) => `length(${alias}."plateCode" || ${alias}."plateNumber") < 3`;

/**
 * This SQL condition is true if the camera text and the plate of a parking event differ in their last three characters.
 * The camera text is the plate text that a camera read. If they differ, the camera text and the plate of the event can
 * belong to different plate groups (`groupOf`). A plate can differ from the camera text if the plate comes from an
 * alternative text of the camera, or from the whitelist entry that the gate named. Other events of the same vehicle can
 * belong to the plate group of the camera text or to the plate group of the plate. The gateway therefore reads the
 * whole plate family: all plates with the same last two characters (`familyOf`).
 *
 * The SQL removes fewer separators from a camera text (the text that a camera read) than the function `plateText`
 * removes. The condition `isReadApart` can therefore also be true when the camera text and the plate belong to the same
 * plate group. The gateway may therefore read more rows than necessary, but it computes the same parking sessions.
 *
 * If a parking event meets the condition `isReadApart`, the event and its parking session have a `whitelistEntryId`. If
 * a parking session has no `whitelistEntryId`, `changedGroups` therefore does not check the first event of this
 * session. If many unended parking sessions belong to vehicles that are not on the whitelist, the SQL therefore reads
 * fewer parking events.
 */
const isReadApart = (alias: string) => {
  const text = `right(translate(${alias}.text, ' .-', ''), 3)`;
  return `${alias}.text IS NOT NULL AND ${alias}."plateCode" <> '' AND ${confusableForm(text)} <> ${groupOf(alias)}`;
};

/**
 * The maximum number of changed plate groups that the SQL reads one by one in the same plate family. If more plate
 * groups of the family have changed, the SQL reads the data of the whole plate family at once. A plate group consists
 * of all plates with the same last three characters. A plate family consists of all plates with the same last two
 * characters.
 */
const maxGroupsOfFamily = 4;

/**
 * SQL for the common table expression `changed`. Each row contains a plate group whose sessions must be computed again,
 * and the time of the first change of this group.
 *
 * If the gateway must compute the parking sessions of a whole plate family again, the row contains the plate family
 * instead of a plate group. With the parameter `$wholeFamily`, the caller can require the SQL to choose a whole plate
 * family. The SQL also chooses the whole plate family if more than `maxGroupsOfFamily` of its plate groups have
 * changed, or if the family has a short plate (`isShort`). If the camera text and the plate of one parking event can
 * belong to different plate groups (`isReadApart`), the SQL also chooses the whole plate family.
 *
 * The SQL checks only those parking sessions, parking events and occupancy counts that the change can affect. Of the
 * events before the first change of the plate family, the SQL checks only events that started a session. It checks such
 * an event only if its session had not ended before the first change.
 */
const changedGroups = `
  WITH place AS MATERIALIZED (
    SELECT ${familyOf('p')} AS family, ${groupOf('p')} AS "group", p."wholeFamily" OR ${isShort('p')} OR (${isReadApart('p')}) AS whole,
      p."occurredAt"
    FROM unnest($plateCode::text[], $plateNumber::text[], $text::text[], $occurredAt::timestamptz[],
      $wholeFamily::boolean[]) AS p("plateCode", "plateNumber", text, "occurredAt", "wholeFamily")
  ), family AS MATERIALIZED (
    SELECT family, min("occurredAt") AS "from",
      bool_or(whole) OR count(DISTINCT "group") > ${maxGroupsOfFamily} AS whole
    FROM place GROUP BY 1
  ), undivided AS MATERIALIZED (
    SELECT f.family FROM family f WHERE f.whole
      OR EXISTS (SELECT FROM "ParkingSession" s WHERE s."locationId" = $locationId AND ${familyOf('s')} = f.family
        AND ${endOf('s')} >= f."from" AND ${isShort('s')})
      OR EXISTS (SELECT FROM "ParkingEvent" e WHERE e."locationId" = $locationId AND ${familyOf('e')} = f.family
        AND e."occurredAt" >= f."from" AND ${isShort('e')})
      OR EXISTS (SELECT FROM "ParkingEvent" e WHERE e."locationId" = $locationId AND ${familyOf('e')} = f.family
        AND e."occurredAt" >= f."from" AND ${isReadApart('e')})
      OR EXISTS (SELECT FROM "ParkingSession" s WHERE s."locationId" = $locationId AND ${familyOf('s')} = f.family
        AND ${endOf('s')} >= f."from" AND ${startOf('s')} < f."from" AND s."whitelistEntryId" IS NOT NULL
        AND (SELECT ${isReadApart('e')} FROM "ParkingEvent" e WHERE e.id = s.id))
      OR EXISTS (SELECT FROM "OccupancyCount" k JOIN "CountedPlate" p ON p."countId" = k.id AND ${familyOf('p')} = f.family
        WHERE k."locationId" = $locationId AND k."countedAt" >= f."from" AND ${isShort('p')})
  ), changed AS MATERIALIZED (
    SELECT p.family, CASE WHEN u.family IS NULL THEN p."group" END AS "group", min(p."occurredAt") AS "from"
    FROM place p LEFT JOIN undivided u USING (family) GROUP BY 1, 2
  )`;

/**
 * This SQL condition selects the plates that a row `c` of the common table expression `changed` describes. If the row
 * `c` contains a plate group, the condition is true for all plates of the plate group. If the row `c` describes a whole
 * plate family (plates with the same last two characters), the condition is true for all plates of this family.
 */
const isOfChanged = (alias: string) =>
  `${familyOf(alias)} = c.family AND (c."group" IS NULL OR ${groupOf(alias)} = c."group")`;

/**
 * SQL for the result column `group`. For each row of `changed`, this column contains the plate group of the row. If a
 * row describes a whole plate family (plates with the same last two characters), this column contains the family.
 */
const changedGroup = 'coalesce(c."group", c.family) AS "group"';

// For each changed plate group, the statements `readSessions` and `readObservations` read the sessions and the events
// in a subquery (LATERAL). PostgreSQL therefore uses the index of the plate families to find the rows. If the
// statements used a join instead of the subquery, PostgreSQL might read all parking sessions and events of the
// location. PostgreSQL does not convert a subquery with `OFFSET 0` to a join.

/**
 * Reads the parking sessions that may change because a parking event or an occupancy count has changed. The result
 * column `begun` is true if the parking session began before the first change in its plate group. The column `text`
 * contains the text that a camera read when the vehicle entered.
 */
export const readSessions = namedStatement(
  'parking-sessions-of-groups',
  `
  ${changedGroups}
  SELECT ${modelColumns(Prisma.ParkingSessionScalarFieldEnum, 's')}, ${changedGroup}, ${startOf('s')} < c."from" AS begun,
    CASE WHEN s."plateCode" <> '' THEN (SELECT e.text FROM "ParkingEvent" e WHERE e.id = s.id) END AS text
  FROM changed c
  CROSS JOIN LATERAL (
    SELECT s.* FROM "ParkingSession" s
    WHERE s."locationId" = $locationId AND ${isOfChanged('s')} AND ${endOf('s')} >= c."from" OFFSET 0
  ) s`,
);

/**
 * Reads the parking events and occupancy counts of the plate groups in the common table expression `changed`. The
 * statement skips the parking events and occupancy counts from before the earliest change in their plate group. From an
 * occupancy count, the statement returns only the vehicles whose plates belong to the plate group, one row for each
 * vehicle. If no vehicle in an occupancy count has a plate of the plate group, the statement returns one row for this
 * occupancy count, in which `id` is null.
 */
export const readObservations = namedStatement(
  'parking-observations-of-groups',
  `
  ${changedGroups}
  SELECT ${changedGroup}, e.kind::text AS kind, e.id, e."eventId", e."plateType", e."plateCode", e."plateNumber", e.text,
    e."occurredAt", e."whitelistEntryId", e.listed
  FROM changed c
  CROSS JOIN LATERAL (
    SELECT e.* FROM "ParkingEvent" e
    WHERE e."locationId" = $locationId AND ${isOfChanged('e')} AND e."occurredAt" >= c."from" OFFSET 0
  ) e
  UNION ALL
  SELECT ${changedGroup}, CASE k.kind WHEN 'VEHICLES' THEN 'INSIDE' ELSE 'NUMBER' END, p.id, NULL, p."plateType",
    p."plateCode", p."plateNumber", NULL, k."countedAt", p."whitelistEntryId", p.listed
  FROM changed c
  JOIN "OccupancyCount" k ON k."locationId" = $locationId AND k."countedAt" >= c."from"
  LEFT JOIN "CountedPlate" p ON p."countId" = k.id AND ${isOfChanged('p')}`,
);

type OfGroup<Row> = Row & { group: string };
export type StoredSession = OfGroup<ParkingSession> & { begun: boolean; text: string | null };
export type EventRow = OfGroup<GateObservation>;
export type CountedRow = OfGroup<{ kind: 'INSIDE' | 'NUMBER'; occurredAt: Date }> &
  (Omit<CountedPlate, 'countId'> | { id: null });

/** The columns of the table `ParkingSession`, with their types in PostgreSQL. */
const sessionColumnTypes = {
  id: 'text',
  locationId: 'text',
  plateType: 'text',
  plateCode: 'text',
  plateNumber: 'text',
  enteredAt: 'timestamptz',
  countedAt: 'timestamptz',
  exitedAt: 'timestamptz',
  endedAt: 'timestamptz',
  staysUntil: 'timestamptz',
  open: 'boolean',
  corrected: 'boolean',
  whitelistEntryId: 'text',
  listed: 'boolean',
} as const satisfies Record<keyof ParkingSession, string>;

/** The names of the columns of a parking session. */
export const writtenColumns = Object.keys(sessionColumnTypes) as (keyof ParkingSession)[];

/** Removes parking sessions, and writes new and changed parking sessions to the database. */
export const writeSessions = namedStatement(
  'parking-sessions-write',
  `
  WITH removed AS (DELETE FROM "ParkingSession" WHERE id = ANY($removed::text[]))
  ${upsertRows('ParkingSession', sessionColumnTypes)}`,
);
