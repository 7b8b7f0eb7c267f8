import { type CountedPlate, type ParkingSession, Prisma } from '../../prisma/generated/client/client.ts';
import { columnList, modelColumns } from '../database/columns.ts';
import { namedStatement } from '../database/named-statement.ts';
import { confusableForm } from '../whitelist/similar-plates.ts';
import type { GateObservation } from './derive-sessions.ts';
import { endOf, startOf } from './session-columns.ts';

// SQL statements that read and write parking sessions. One statement handles the sessions of many plates. A family or a
// group is a set of plates that one query reads together (`familyOf`, `groupOf`).

/**
 * SQL for the family of a plate: the last two characters of the plate, with the same character for all characters that
 * cameras confuse (`similarPlates`). Plates that cameras may confuse are always in the same family, but a family can
 * also contain unrelated plates. Database indexes use this expression.
 */
export const familyOf = (alias: string) =>
  confusableForm(`right(${alias}."plateCode" || ${alias}."plateNumber", 2)`);

/**
 * SQL for the group of a plate: the last three characters of the plate, with the same character for all characters that
 * cameras confuse. A group is a part of a family (`familyOf`), so a query by group reads fewer plates.
 */
const groupOf = (alias: string) => confusableForm(`right(${alias}."plateCode" || ${alias}."plateNumber", 3)`);

/**
 * The SQL condition that a plate has fewer than three characters. Cameras may confuse so short a plate with plates of
 * several groups, so its whole family must be read.
 */
const isShort = (alias: string) => `length(${alias}."plateCode" || ${alias}."plateNumber") < 3`;

/**
 * The maximum number of groups of one family that a query reads separately. If more groups of the family changed, the
 * query reads the whole family once.
 */
const maxGroupsOfFamily = 4;

/**
 * SQL for the table `changed`: the groups of plates whose sessions must be derived again, each with the time of its
 * first change. A whole family is one row if many of its groups changed or one of its plates is very short.
 */
const changedGroups = `
  WITH place AS MATERIALIZED (
    SELECT ${familyOf('p')} AS family, ${groupOf('p')} AS "group", p."wholeFamily" OR ${isShort('p')} AS whole,
      p."occurredAt"
    FROM unnest($plateCode::text[], $plateNumber::text[], $occurredAt::timestamptz[], $wholeFamily::boolean[])
      AS p("plateCode", "plateNumber", "occurredAt", "wholeFamily")
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
      OR EXISTS (SELECT FROM "OccupancyCount" k JOIN "CountedPlate" p ON p."countId" = k.id AND ${familyOf('p')} = f.family
        WHERE k."locationId" = $locationId AND k."countedAt" >= f."from" AND ${isShort('p')})
  ), changed AS MATERIALIZED (
    SELECT p.family, CASE WHEN u.family IS NULL THEN p."group" END AS "group", min(p."occurredAt") AS "from"
    FROM place p LEFT JOIN undivided u USING (family) GROUP BY 1, 2
  )`;

/** The SQL condition that a plate belongs to a group in the table `changed`. */
const isOfChanged = (alias: string) =>
  `${familyOf(alias)} = c.family AND (c."group" IS NULL OR ${groupOf(alias)} = c."group")`;

/** SQL for a column that identifies a group in the table `changed`. */
const changedGroup = 'coalesce(c."group", c.family) AS "group"';

/**
 * Reads the sessions that a changed observation can affect. Each row says whether the session began before the change,
 * and which text a camera read when the vehicle entered.
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
 * Reads the gate events and the counts since the change. A count that lists vehicles has a row for each listed vehicle
 * of the group. If it lists none, it has one row without an id. A count that is only a number also has one row without
 * an id.
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

export const writtenColumns = Object.keys(sessionColumnTypes) as (keyof ParkingSession)[];

export const writeSessions = namedStatement(
  'parking-sessions-write',
  `
  WITH removed AS (DELETE FROM "ParkingSession" WHERE id = ANY($removed::text[]))
  INSERT INTO "ParkingSession" (${columnList(writtenColumns)})
  SELECT * FROM unnest(${columnList(writtenColumns, (_, column) => `$${column}::${sessionColumnTypes[column]}[]`)})
  ON CONFLICT (id) DO UPDATE SET ${columnList(writtenColumns, (quoted) => `${quoted} = excluded.${quoted}`)}`,
);
