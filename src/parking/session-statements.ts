import { type CountedPlate, type ParkingSession, Prisma } from '../../prisma/generated/client/client.ts';
import { columnList, modelColumns } from '../database/columns.ts';
import { namedStatement } from '../database/named-statement.ts';
import { confusableForm } from '../whitelist/similar-plates.ts';
import type { GateObservation } from './derive-sessions.ts';
import { endOf, familyOf, startOf } from './session-columns.ts';

// SQL statements that read and write parking sessions. One statement handles the sessions of many plates. A query reads
// the sessions of a plate family (`familyOf`) or of a plate group (`groupOf`). A plate family consists of all plates
// with the same last two characters, and a plate group of all plates with the same last three characters. A plate group
// is therefore a part of a plate family.

/**
 * SQL for the plate group of a plate: the last three characters of its plate code and plate number. Characters that
 * cameras confuse count as the same character (`confusableForm`). A query by plate group reads fewer plates than a
 * query by plate family.
 */
const groupOf = (alias: string) => confusableForm(`right(${alias}."plateCode" || ${alias}."plateNumber", 3)`);

/**
 * The SQL condition for plates whose plate code and plate number together have fewer than three characters. A short
 * plate may look similar to plates of several plate groups, so the gateway reads the whole plate family (`familyOf`) of
 * a short plate.
 */
const isShort = (alias: string) => `length(${alias}."plateCode" || ${alias}."plateNumber") < 3`;

/**
 * The SQL condition for events whose camera text belongs to another plate group (`groupOf`) than their plate, because
 * the plate comes from an alternative text of the camera, or from the whitelist entry that the gate named. Other events
 * of the same vehicle can be in either plate group, so the gateway reads the whole plate family (`familyOf`).
 *
 * The SQL removes fewer separators from a camera text than `plateText`, so the condition can also be true for a camera
 * text and a plate of the same plate group. The gateway then only reads more rows than necessary.
 *
 * If the condition is true for an event, the event and its session have a `whitelistEntryId`. `changedGroups` therefore
 * checks the condition only for sessions with a `whitelistEntryId`. This saves time at a location with many sessions
 * that never ended and have no `whitelistEntryId`.
 */
const isReadApart = (alias: string) => {
  const text = `right(translate(${alias}.text, ' .-', ''), 3)`;
  return `${alias}.text IS NOT NULL AND ${alias}."plateCode" <> '' AND ${confusableForm(text)} <> ${groupOf(alias)}`;
};

/**
 * The maximum number of changed plate groups (`groupOf`) of one plate family that the SQL reads separately. If more
 * than `maxGroupsOfFamily` plate groups of a family have changed, the SQL reads the whole plate family once.
 */
const maxGroupsOfFamily = 4;

/**
 * SQL for the common table expression `changed`. Each row contains a plate group whose sessions must be computed again,
 * and the time of the first change of this group. A row of `changed` contains a whole plate family instead of one plate
 * group in four cases:
 *
 * - More than `maxGroupsOfFamily` plate groups of the family have changed.
 * - For at least one plate of the family, the plate code and the plate number together have fewer than three
 *   characters.
 * - The camera text and the plate of at least one event of the family belong to different plate groups (`isReadApart`).
 *   An event before the first change of the family matters only if it started a session that had not ended at the time
 *   of the first change.
 * - `$wholeFamily` is true for a plate of the family, because other plates of the family may also have changed events
 *   or counts.
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

/** The SQL condition for plates of the plate groups and plate families that the subquery `changed` returns. */
const isOfChanged = (alias: string) =>
  `${familyOf(alias)} = c.family AND (c."group" IS NULL OR ${groupOf(alias)} = c."group")`;

/**
 * SQL for the result column `group`: the plate group of a row of `changed`, or the plate family if the row contains a
 * whole family.
 */
const changedGroup = 'coalesce(c."group", c.family) AS "group"';

/**
 * Reads the sessions that a changed observation can affect. The column `begun` of a result row is true when its session
 * began before the first changed observation. The column `text` contains the text that a camera read when the vehicle
 * entered.
 */
export const readSessions = namedStatement(
  'parking-sessions-of-groups',
  `
  ${changedGroups}
  SELECT ${modelColumns(Prisma.ParkingSessionScalarFieldEnum, 's')}, ${changedGroup}, ${startOf('s')} < c."from" AS begun,
    CASE WHEN s."plateCode" <> '' THEN (SELECT e.text FROM "ParkingEvent" e WHERE e.id = s.id) END AS text
  FROM changed c
  JOIN "ParkingSession" s
    ON s."locationId" = $locationId AND ${isOfChanged('s')} AND ${endOf('s')} >= c."from"`,
);

/**
 * Reads the gate events and occupancy counts of the plate groups in the table `changed`. For each plate group, the
 * statement reads only events and counts from the time of the first change of the group. If an occupancy count contains
 * vehicles of a plate group, the result has one row for each of these vehicles. If an occupancy count contains no
 * vehicle of a plate group, the result has one row for the count, in which `id` is null.
 */
export const readObservations = namedStatement(
  'parking-observations-of-groups',
  `
  ${changedGroups}
  SELECT ${changedGroup}, e.kind::text AS kind, e.id, e."eventId", e."plateType", e."plateCode", e."plateNumber", e.text,
    e."occurredAt", e."whitelistEntryId", e.listed
  FROM changed c
  JOIN "ParkingEvent" e
    ON e."locationId" = $locationId AND ${isOfChanged('e')} AND e."occurredAt" >= c."from"
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

/** The names of the columns of a session. */
export const writtenColumns = Object.keys(sessionColumnTypes) as (keyof ParkingSession)[];

/** Removes sessions, and writes new and changed sessions to the database. */
export const writeSessions = namedStatement(
  'parking-sessions-write',
  `
  WITH removed AS (DELETE FROM "ParkingSession" WHERE id = ANY($removed::text[]))
  INSERT INTO "ParkingSession" (${columnList(writtenColumns)})
  SELECT * FROM unnest(${columnList(writtenColumns, (_, column) => `$${column}::${sessionColumnTypes[column]}[]`)})
  ON CONFLICT (id) DO UPDATE SET ${columnList(writtenColumns, (quoted) => `${quoted} = excluded.${quoted}`)}`,
);
