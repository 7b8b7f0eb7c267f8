import { setImmediate as nextIteration } from 'node:timers/promises';
import {
  type CountedPlate,
  type Location,
  type ParkingSession,
  Prisma,
} from '../../prisma/generated/client/client.ts';
import { type ChangeAuthor, recordChanges } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import { columnList, modelColumns } from '../database/columns.ts';
import { groupBy } from '../database/group-by.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { recountSessions } from './occupancy.ts';
import type { Plate } from '../whitelist/plate.ts';
import { confusableForm } from '../whitelist/similar-plates.ts';
import {
  deriveSessions,
  type CountObservation,
  type GateObservation,
  sessionState,
} from './derive-sessions.ts';
import { endOf, startOf } from './session-columns.ts';

/**
 * SQL for the family of a plate: its last two characters, after confusable characters are made equal (`similarPlates`).
 * Plates that cameras may confuse with each other are in the same family. Unrelated plates can share a family. Indexes
 * use this expression.
 */
export const familyOf = (alias: string) =>
  confusableForm(`right(${alias}."plateCode" || ${alias}."plateNumber", 2)`);

/**
 * SQL for the group of a plate: its last three characters, after confusable characters are made equal. The plates of a
 * group are read together. A group has fewer plates than a family.
 */
const groupOf = (alias: string) => confusableForm(`right(${alias}."plateCode" || ${alias}."plateNumber", 3)`);

/**
 * The SQL condition that a plate is too short for a group. Cameras may confuse such a plate with plates of several
 * groups.
 */
const isShort = (alias: string) => `length(${alias}."plateCode" || ${alias}."plateNumber") < 3`;

/**
 * The maximum number of groups of a family that are read separately. If more groups changed, the whole family is read
 * once.
 */
const maxGroupsOfFamily = 4;

/**
 * SQL for the groups of plates that the changes affect, as `changed`, each with the time of its first change. A family
 * with many changed groups or a short plate becomes a single group.
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

/** The SQL condition that a plate belongs to a changed group. */
const isOfChanged = (alias: string) =>
  `${familyOf(alias)} = c.family AND (c."group" IS NULL OR ${groupOf(alias)} = c."group")`;

/** The identifier of a changed group, as a column. */
const changedGroup = 'coalesce(c."group", c.family) AS "group"';

/**
 * Reads the sessions that a change can affect. Each row says whether the session began before the change, and which
 * text a camera read on entry.
 */
const readSessions = namedStatement(
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
 * Reads the observations since the change, which are gate events and counts. A count of vehicles has a row for each
 * vehicle of the group, or one row without an id when no vehicle of the group was counted. A counted number has one row
 * without an id.
 */
const readObservations = namedStatement(
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
type StoredSession = OfGroup<ParkingSession> & { begun: boolean; text: string | null };
type EventRow = OfGroup<GateObservation>;
type CountedRow = OfGroup<{ kind: 'INSIDE' | 'NUMBER'; occurredAt: Date }> &
  (Omit<CountedPlate, 'countId'> | { id: null });

const isEvent = (row: EventRow | CountedRow): row is EventRow => row.kind === 'ENTRY' || row.kind === 'EXIT';
const isCounted = (row: EventRow | CountedRow): row is CountedRow => row.kind === 'INSIDE';

/** The columns of a session, with their types in PostgreSQL. */
const columnTypes = {
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

const columns = Object.keys(columnTypes) as (keyof ParkingSession)[];

const writeSessions = namedStatement(
  'parking-sessions-write',
  `
  WITH removed AS (DELETE FROM "ParkingSession" WHERE id = ANY($removed::text[]))
  INSERT INTO "ParkingSession" (${columnList(columns)})
  SELECT * FROM unnest(${columnList(columns, (_, column) => `$${column}::${columnTypes[column]}[]`)})
  ON CONFLICT (id) DO UPDATE SET ${columnList(columns, (quoted) => `${quoted} = excluded.${quoted}`)}`,
);

/** A plate whose observations changed, with the time of the first change. */
export interface ChangedPlate extends Plate {
  occurredAt: Date;
  /** Whether any plate of the family may have changed since that time. When omitted, only this plate changed. */
  wholeFamily?: boolean;
}

/** A session before and after a change. `before` is undefined for a new session. */
interface SessionChange {
  before: ParkingSession | undefined;
  after: ParkingSession;
}

const msPerHour = 3_600_000;

/** The number of rows after which the derivation yields to the event loop, so that other requests can run. */
const rowsPerYield = 500;

/**
 * Derives the sessions of a location again after observations changed, and writes audit records for vehicles whose
 * longest stay is over. The caller passes the transaction of that change, which has locked the location, and calls
 * `announceState` afterwards.
 * The sessions of a group of plates depend only on observations of that group. Sessions that ended before the first
 * change stay unchanged. Nothing else is read.
 *
 * @param location the values of the location after the change
 * @param changed the changed observations, with their plates and times before and after the change
 * @param now by the clock of the database
 * @returns the new and changed sessions
 */
export async function refreshSessions(
  transaction: Transaction,
  author: ChangeAuthor,
  location: Location,
  changed: readonly ChangedPlate[],
  now: Date,
): Promise<SessionChange[]> {
  const { id: locationId, longestStayHours } = location;
  const parameters = {
    locationId,
    plateCode: changed.map(({ plateCode }) => plateCode),
    plateNumber: changed.map(({ plateNumber }) => plateNumber),
    occurredAt: changed.map(({ occurredAt }) => occurredAt),
    wholeFamily: changed.map(({ wholeFamily = false }) => wholeFamily),
  };
  const stored = await queryInTransaction<StoredSession>(transaction, readSessions, parameters);
  const before = new Map(
    stored.map(({ begun: _, group: __, text: ___, ...session }) => [session.id, session]),
  );
  const texts = new Map(stored.map(({ id, text }) => [id, text]));
  const rows = await queryInTransaction<EventRow | CountedRow>(transaction, readObservations, parameters);
  const observed = groupBy(rows, ({ group }) => group);
  const begun = groupBy(
    stored.filter((session) => session.begun),
    ({ group }) => group,
  );
  const sessions: ParkingSession[] = [];
  let rowsSinceYield = 0;
  for (const group of new Set([...begun.keys(), ...observed.keys()])) {
    const [begunRows, observationRows] = [begun.get(group) ?? [], observed.get(group) ?? []];
    rowsSinceYield += begunRows.length + observationRows.length;
    if (rowsSinceYield > rowsPerYield) {
      await nextIteration();
      rowsSinceYield = 0;
    }
    const derived = deriveSessions({
      locationId,
      begun: begunRows.map(({ id }) => before.get(id)!),
      texts,
      observations: observationsOf(observationRows),
      longestStayMs: longestStayHours === null ? null : longestStayHours * msPerHour,
      now,
    });
    for (const session of derived) sessions.push(session);
  }
  const changes = sessions
    .map((after): SessionChange => ({ before: before.get(after.id), after }))
    .filter((change) => !isSame(change));
  const kept = new Set(sessions.map(({ id }) => id));
  const removed = [...before.keys()].filter((id) => !kept.has(id));
  if (changes.length + removed.length > 0) {
    const values = columns.map((column) => [column, changes.map(({ after }) => after[column])]);
    await queryInTransaction(transaction, writeSessions, { removed, ...Object.fromEntries(values) });
  }
  if (rows.some(({ kind }) => kind === 'NUMBER')) {
    await recountSessions(transaction, locationId, parameters.occurredAt);
  }
  await recordUnseenExits(transaction, author, location, changes);
  return changes;
}

/** Returns the observations of a group. The rows of one count become one observation. */
function observationsOf(rows: readonly (EventRow | CountedRow)[]): (GateObservation | CountObservation)[] {
  const counts = groupBy(rows.filter(isCounted), ({ occurredAt }) => occurredAt.getTime());
  return [
    ...rows.filter(isEvent),
    ...[...counts.values()].map((counted): CountObservation => ({
      kind: 'INSIDE',
      occurredAt: counted[0]!.occurredAt,
      plates: counted.flatMap((row) => (row.id === null ? [] : [row])),
    })),
  ];
}

/** Writes an audit record for each vehicle whose longest stay is over. */
async function recordUnseenExits(
  transaction: Transaction,
  author: ChangeAuthor,
  { id: locationId, companyId }: Location,
  changes: readonly SessionChange[],
): Promise<void> {
  const isUnseen = (session: ParkingSession) => sessionState(session) === 'UNSEEN_EXIT';
  const unseen = changes.filter(({ before, after }) => isUnseen(after) && !(before && isUnseen(before)));
  if (unseen.length === 0) return;
  await recordChanges(
    transaction,
    author,
    unseen.map(({ after }) => ({
      action: 'parking.exit_unseen',
      targetId: after.id,
      companyId,
      locationId,
      changes: after,
    })),
  );
}

/** Whether a session equals the stored session. */
const isSame = ({ before, after }: SessionChange) =>
  before !== undefined && columns.every((column) => before[column]?.valueOf() === after[column]?.valueOf());
