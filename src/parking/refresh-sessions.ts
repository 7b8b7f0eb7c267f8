import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type CountedPlate,
  type Location,
  type ParkingSession,
  Prisma,
} from '../../prisma/generated/client/client.ts';
import { type ChangeAuthor, recordChanges, type Transaction } from '../audit/record.ts';
import { columnList, modelColumns } from '../database/columns.ts';
import { groupBy } from '../database/group-by.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { recountSessions } from '../locations/occupancy.ts';
import type { Plate } from '../whitelist/plate.ts';
import { deriveSessions, type SeenInside, type SeenVehicle, sessionState } from './derive-sessions.ts';
import { endOf, startOf } from './session-columns.ts';

/**
 * What plates that cameras may take for each other have in common, as SQL that indexes have: the last two characters, but
 * for those that cameras confuse (`similarPlates`). Other plates may have it too: a family is what is read together.
 */
const familyOf = (alias: string) =>
  `translate(upper(right(${alias}."plateCode" || ${alias}."plateNumber", 2)), 'OIBSZ', '01852')`;

/** The families in which something changed, each with the time of its first change. */
const changedFamilies = `
  SELECT ${familyOf('c')} AS family, min(c."occurredAt") AS "from"
  FROM unnest($plateCode::text[], $plateNumber::text[], $occurredAt::timestamptz[])
    AS c("plateCode", "plateNumber", "occurredAt")
  GROUP BY 1`;

/** The sessions that a change may concern, whether they had begun before it, and what a camera had read then. */
const readSessions = namedStatement(
  'parking-sessions-of-families',
  `
  SELECT ${modelColumns(Prisma.ParkingSessionScalarFieldEnum, 's')}, c.family, ${startOf('s')} < c."from" AS begun,
    CASE WHEN s."plateCode" <> '' THEN (SELECT e.text FROM "ParkingEvent" e WHERE e.id = s.id) END AS text
  FROM (${changedFamilies}) c
  JOIN "ParkingSession" s
    ON s."locationId" = $locationId AND ${familyOf('s')} = c.family AND ${endOf('s')} >= c."from"`,
);

/**
 * What was seen since: events of gates, and counts. A count of vehicles has a row for each vehicle of the family, or one
 * without an id for none; a number that was counted has one without an id.
 */
const readSeen = namedStatement(
  'parking-seen-of-families',
  `
  WITH changed AS MATERIALIZED (${changedFamilies})
  SELECT c.family, e.kind::text AS kind, e.id, e."eventId", e."plateType", e."plateCode", e."plateNumber", e.text,
    e."occurredAt", e."whitelistEntryId", e.listed
  FROM changed c
  JOIN "ParkingEvent" e
    ON e."locationId" = $locationId AND ${familyOf('e')} = c.family AND e."occurredAt" >= c."from"
  UNION ALL
  SELECT c.family, CASE k.kind WHEN 'VEHICLES' THEN 'INSIDE' ELSE 'NUMBER' END, p.id, NULL, p."plateType", p."plateCode",
    p."plateNumber", NULL, k."countedAt", p."whitelistEntryId", p.listed
  FROM changed c
  JOIN "OccupancyCount" k ON k."locationId" = $locationId AND k."countedAt" >= c."from"
  LEFT JOIN "CountedPlate" p ON p."countId" = k.id AND ${familyOf('p')} = c.family`,
);

type OfFamily<Row> = Row & { family: string };
type StoredSession = OfFamily<ParkingSession> & { begun: boolean; text: string | null };
type EventRow = OfFamily<SeenVehicle>;
type CountedRow = OfFamily<{ kind: 'INSIDE' | 'NUMBER'; occurredAt: Date }> &
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

/** Where something changed: which plate, and when it was seen. */
export type PlaceOfChange = Plate & { occurredAt: Date };

/** A session as it was, if it was there, and as it is. */
interface SessionChange {
  before: ParkingSession | undefined;
  after: ParkingSession;
}

const msPerHour = 3_600_000;

/** Rows from which sessions are derived in one turn of the event loop: other requests get theirs between. */
const rowsPerTurn = 500;

/**
 * Derives the sessions of a location again after what was seen changed, and leaves records of the vehicles whose longest
 * stay is over. Called in the transaction of that change, which has locked the location and tells of its state afterwards
 * (`announceState`).
 *
 * The sessions of a family depend on what was seen of it alone, and those that ended before the first change stay as they
 * are: nothing else is read.
 *
 * @param location as it is after the change
 * @param places what was seen, as it was and as it is
 * @param now by the clock of the database
 * @returns the sessions that are new or have changed
 */
export async function refreshSessions(
  transaction: Transaction,
  author: ChangeAuthor,
  location: Location,
  places: readonly PlaceOfChange[],
  now: Date,
): Promise<SessionChange[]> {
  const { id: locationId, longestStayHours } = location;
  const parameters = {
    locationId,
    plateCode: places.map(({ plateCode }) => plateCode),
    plateNumber: places.map(({ plateNumber }) => plateNumber),
    occurredAt: places.map(({ occurredAt }) => occurredAt),
  };
  const stored = await queryInTransaction<StoredSession>(transaction, readSessions, parameters);
  const before = new Map(
    stored.map(({ begun: _, family: __, text: ___, ...session }) => [session.id, session]),
  );
  const texts = new Map(stored.map(({ id, text }) => [id, text]));
  const rows = await queryInTransaction<EventRow | CountedRow>(transaction, readSeen, parameters);
  const seen = groupBy(rows, ({ family }) => family);
  const begun = groupBy(
    stored.filter((session) => session.begun),
    ({ family }) => family,
  );
  const sessions: ParkingSession[] = [];
  let rowsOfTurn = 0;
  for (const family of new Set([...begun.keys(), ...seen.keys()])) {
    const [begunRows, seenRows] = [begun.get(family) ?? [], seen.get(family) ?? []];
    rowsOfTurn += begunRows.length + seenRows.length;
    if (rowsOfTurn > rowsPerTurn) {
      await nextTurn();
      rowsOfTurn = 0;
    }
    const derived = deriveSessions({
      locationId,
      begun: begunRows.map(({ id }) => before.get(id)!),
      texts,
      seen: seenOf(seenRows),
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

/** What was seen of a family, each count of vehicles as one. */
function seenOf(rows: readonly (EventRow | CountedRow)[]): (SeenVehicle | SeenInside)[] {
  const counts = groupBy(rows.filter(isCounted), ({ occurredAt }) => occurredAt.getTime());
  return [
    ...rows.filter(isEvent),
    ...[...counts.values()].map((counted): SeenInside => ({
      kind: 'INSIDE',
      occurredAt: counted[0]!.occurredAt,
      plates: counted.flatMap((row) => (row.id === null ? [] : [row])),
    })),
  ];
}

/** Leaves a record of each vehicle whose longest stay turned out to be over. */
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

/** Whether a session says what is stored already. */
const isSame = ({ before, after }: SessionChange) =>
  before !== undefined && columns.every((column) => before[column]?.valueOf() === after[column]?.valueOf());
