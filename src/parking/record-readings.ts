import type { ParkingEvent, ParkingSession, WhitelistEntry } from '../prisma/generated/client/client.ts';
import { createBatch, createStatementBatch } from './batch.ts';
import type { Sql, Statement } from './db.ts';

/** Which events or sessions of one location, between two ids. */
interface ActivityPageQuestion {
  locationId: string;
  after?: string | undefined;
  before?: string | undefined;
  /** How many at most. */
  limit: number;
  /** From the newest on instead of from the oldest. */
  descending: boolean;
}

/** Only sessions whose vehicle is inside, or only those whose vehicle is not; both when left out. */
interface SessionFilter {
  open?: boolean | undefined;
}

type Table = 'ParkingEvent' | 'ParkingSession';

/** One statement for each filter and direction, so that each has the plan of its own index. */
function pageStatement(table: Table, direction: 'ASC' | 'DESC', open?: boolean): Statement {
  return {
    name: `${table}-page ${direction} ${open ?? 'all'}`,
    text: `
      SELECT q.n::int, a.*
      FROM unnest($1::text[], $2::text[], $3::text[], $4::int[])
        WITH ORDINALITY AS q("locationId", after, before, "limit", n)
      JOIN LATERAL (
        SELECT * FROM "${table}" a
        WHERE a."locationId" = q."locationId" AND (q.after IS NULL OR a.id > q.after)
          AND (q.before IS NULL OR a.id < q.before) ${open === undefined ? '' : `AND a.open = ${open}`}
        ORDER BY a.id ${direction}
        LIMIT q."limit"
      ) a ON true
      ORDER BY q.n, a.id ${direction}`,
  };
}

function countStatement(table: Table, open?: boolean): Statement {
  return {
    name: `${table}-count ${open ?? 'all'}`,
    text: `
      SELECT q.n::int, (
        SELECT count(*) FROM "${table}" a
        WHERE a."locationId" = q."locationId" ${open === undefined ? '' : `AND a.open = ${open}`}
      )::int AS count
      FROM unnest($1::text[]) WITH ORDINALITY AS q("locationId", n)`,
  };
}

/** The statements of one list, written once. */
const statementsOf = (table: Table, open?: boolean) => ({
  oldestFirst: pageStatement(table, 'ASC', open),
  newestFirst: pageStatement(table, 'DESC', open),
  count: countStatement(table, open),
});

const events = statementsOf('ParkingEvent');
const sessions = {
  all: statementsOf('ParkingSession'),
  open: statementsOf('ParkingSession', true),
  closed: statementsOf('ParkingSession', false),
};

function sessionsThat({ open }: SessionFilter) {
  if (open === undefined) return sessions.all;
  return open ? sessions.open : sessions.closed;
}

const entriesById: Statement = {
  name: 'whitelist-entries-by-id',
  text: `
    SELECT e.* FROM unnest($1::text[], $2::text[]) AS q("locationId", id)
    JOIN "WhitelistEntry" e ON e.id = q.id AND e."locationId" = q."locationId"`,
};

/** The reads of parking activity over one database. */
export type ActivityStore = ReturnType<typeof createActivityStore>;

/** Prepares the reads of events and sessions; those of one turn of the event loop are joined. */
export function createActivityStore(sql: Sql) {
  const page = <Question extends ActivityPageQuestion, Row>(
    list: (question: Question) => { oldestFirst: Statement; newestFirst: Statement },
  ) =>
    createStatementBatch<Question, Row & { n: number }, Row[]>(sql, {
      statementOf: (question) => list(question)[question.descending ? 'newestFirst' : 'oldestFirst'],
      valuesOf: (questions) => [
        questions.map((question) => question.locationId),
        questions.map((question) => question.after ?? null),
        questions.map((question) => question.before ?? null),
        questions.map((question) => question.limit),
      ],
      answerOf: (rows) => rows,
    });

  const count = <Question extends { locationId: string }>(
    list: (question: Question) => { count: Statement },
  ) =>
    createStatementBatch<Question, { n: number; count: number }, number>(sql, {
      statementOf: (question) => list(question).count,
      valuesOf: (questions) => [questions.map((question) => question.locationId)],
      answerOf: ([row]) => row?.count ?? 0,
    });

  return {
    /** A page of the events of a location. */
    events: page<ActivityPageQuestion, ParkingEvent>(() => events),
    /** How many events a location has. */
    countEvents: count<{ locationId: string }>(() => events),
    /** A page of the sessions of a location. */
    sessions: page<ActivityPageQuestion & SessionFilter, ParkingSession>(sessionsThat),
    /** How many sessions a location has. */
    countSessions: count<{ locationId: string } & SessionFilter>(sessionsThat),

    /** The entry of an id, if it still is in the whitelist of that location. */
    entry: createBatch<{ locationId: string; id: string }, WhitelistEntry | null>(async (questions) => {
      const rows = await sql.query<WhitelistEntry>(entriesById, [
        questions.map(({ locationId }) => locationId),
        questions.map(({ id }) => id),
      ]);
      const found = new Map(rows.map((row) => [row.id, row]));
      return questions.map(({ locationId, id }) => {
        const entry = found.get(id);
        return entry?.locationId === locationId ? entry : null;
      });
    }),
  };
}
