import type { WhitelistEntry } from '../prisma/generated/client/client.ts';
import { createStatementBatch } from './batch.ts';
import type { Sql, Statement } from './db.ts';
import { similarPlates } from './plate-reading.ts';

// What a gate and a clerk's list ask, as statements of their own. test/stores.test.ts holds them to what
// Prisma says.

/** A plate: compared exactly as sent. */
export type Plate = Pick<WhitelistEntry, 'plateType' | 'plateCode' | 'plateNumber'>;

/** Which entries of one location: equality filters, and the ids between which the page lies. */
export interface WhitelistPageQuestion {
  locationId: string;
  referenceId?: string | undefined;
  plateType?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
  /** How many entries at most. */
  limit: number;
  /** From the newest entry on instead of from the oldest. */
  descending: boolean;
}

type WhitelistCountQuestion = Pick<WhitelistPageQuestion, 'locationId' | 'referenceId' | 'plateType'>;

/** What is answered for a location that exists. */
export interface WhitelistPage {
  id: string;
  companyId: string;
  entries: WhitelistEntry[];
}

type PlateQuestion = Plate & { locationId: string };

/** A location that exists, and the entry that it has for a plate. */
export interface PlateLookup {
  id: string;
  companyId: string;
  entry: WhitelistEntry | null;
}

/** A row of a join that may have found nothing. */
export type Nullable<Row> = { [Column in keyof Row]: Row[Column] | null };
type LocationAndEntry = Nullable<WhitelistEntry> & { n: number; foundId: string; companyId: string };

/** The entry of such a row. */
export const entryOf = (row: Nullable<WhitelistEntry>): WhitelistEntry | null =>
  row.id === null ? null : (row as WhitelistEntry);

const pageOf = ([first, ...others]: LocationAndEntry[]): WhitelistPage | undefined =>
  first && {
    id: first.foundId,
    companyId: first.companyId,
    entries: [first, ...others].map(entryOf).filter((entry) => entry !== null),
  };

const columns =
  'id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber", "vehicleType", note, "validFrom", "validUntil", "createdAt", "updatedAt"'.split(
    ', ',
  );
/** The columns of an entry `e`, by the names that Prisma gives them. */
export const entryColumns = columns.map((column) => `e.${column}`).join(', ');

const filters = [
  { field: 'referenceId', condition: 'w."referenceId" = q."referenceId"' },
  { field: 'plateType', condition: 'w."plateType" = q."plateType"' },
  { field: 'after', condition: 'w.id > q.after' },
  { field: 'before', condition: 'w.id < q.before' },
] as const;

const statements = new Map<string, Statement>();

/** A statement that is written when its name is first needed. */
function statement(name: string, text: () => string): Statement {
  const known = statements.get(name);
  if (known) return known;
  const written = { name, text: text() };
  statements.set(name, written);
  return written;
}

/** One statement for each combination of filters, so that each has the plan of its own index. */
function pageStatement(question: WhitelistPageQuestion): Statement {
  const used = filters.filter(({ field }) => question[field] !== undefined);
  const direction = question.descending ? 'DESC' : 'ASC';
  return statement(
    ['whitelist-page', direction, ...used.map(({ field }) => field)].join(' '),
    () => `
      SELECT q.n::int, l.id AS "foundId", l."companyId", ${entryColumns}
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[])
        WITH ORDINALITY AS q("locationId", "referenceId", "plateType", after, before, "limit", n)
      JOIN "Location" l ON l.id = q."locationId"
      LEFT JOIN LATERAL (
        SELECT * FROM "WhitelistEntry" w
        WHERE ${['w."locationId" = l.id', ...used.map(({ condition }) => condition)].join(' AND ')}
        ORDER BY w.id ${direction}
        LIMIT q."limit"
      ) e ON true
      ORDER BY q.n, e.id ${direction}`,
  );
}

function countStatement(question: WhitelistCountQuestion): Statement {
  const used = [filters[0], filters[1]].filter(({ field }) => question[field] !== undefined);
  return statement(
    ['whitelist-count', ...used.map(({ field }) => field)].join(' '),
    () => `
      SELECT q.n::int, (
        SELECT count(*) FROM "WhitelistEntry" w
        WHERE ${['w."locationId" = q."locationId"', ...used.map(({ condition }) => condition)].join(' AND ')}
      )::int AS count
      FROM unnest($1::text[], $2::text[], $3::text[])
        WITH ORDINALITY AS q("locationId", "referenceId", "plateType", n)`,
  );
}

const findPlate: Statement = {
  name: 'whitelist-find-plate',
  text: `
    SELECT q.n::int, l.id AS "foundId", l."companyId", ${entryColumns}
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
      WITH ORDINALITY AS q("locationId", "plateType", "plateCode", "plateNumber", n)
    JOIN "Location" l ON l.id = q."locationId"
    LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id AND e."plateType" = q."plateType"
      AND e."plateCode" = q."plateCode" AND e."plateNumber" = q."plateNumber"`,
};

/** The same for plates of which several stand for one question, the plate as read first. */
const findPlates: Statement = {
  name: 'whitelist-find-plates',
  text: `
    SELECT q.n, l.id AS "foundId", l."companyId", ${entryColumns}
    FROM unnest($1::int[], $2::boolean[], $3::text[], $4::text[], $5::text[], $6::text[])
      AS q(n, exact, "locationId", "plateType", "plateCode", "plateNumber")
    JOIN "Location" l ON l.id = q."locationId"
    LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id AND e."plateType" = q."plateType"
      AND e."plateCode" = q."plateCode" AND e."plateNumber" = q."plateNumber"
    WHERE q.exact OR e.id IS NOT NULL
    ORDER BY q.n, e.id`,
};

/** The questions to the whitelists of one database. */
export type WhitelistReads = ReturnType<typeof createWhitelistReads>;

/** Prepares the reads of whitelists. Those of one turn of the event loop are joined. */
export function createWhitelistReads(sql: Sql) {
  return {
    /** One page of a location's entries, oldest or newest first; undefined for an unknown location. */
    page: createStatementBatch<WhitelistPageQuestion, LocationAndEntry, WhitelistPage | undefined>(sql, {
      statementOf: pageStatement,
      valuesOf: (questions) => [
        questions.map((question) => question.locationId),
        ...filters.map(({ field }) => questions.map((question) => question[field] ?? null)),
        questions.map((question) => question.limit),
      ],
      answerOf: pageOf,
    }),

    /** How many entries of a location pass the filters. */
    count: createStatementBatch<WhitelistCountQuestion, { n: number; count: number }, number>(sql, {
      statementOf: countStatement,
      valuesOf: (questions) => [
        questions.map((question) => question.locationId),
        questions.map((question) => question.referenceId ?? null),
        questions.map((question) => question.plateType ?? null),
      ],
      answerOf: ([row]) => row?.count ?? 0,
    }),

    /** The entry of a plate; undefined for an unknown location. */
    findPlate: createStatementBatch<PlateQuestion, LocationAndEntry, PlateLookup | undefined>(sql, {
      statementOf: () => findPlate,
      valuesOf: (questions) => [
        questions.map((question) => question.locationId),
        questions.map((question) => question.plateType),
        questions.map((question) => question.plateCode),
        questions.map((question) => question.plateNumber),
      ],
      answerOf: ([row]) => row && { id: row.foundId, companyId: row.companyId, entry: entryOf(row) },
    }),

    /** The entries of a plate and of those that a camera takes for it; undefined for an unknown location. */
    findSimilar: createStatementBatch<PlateQuestion, LocationAndEntry, WhitelistPage | undefined>(sql, {
      statementOf: () => findPlates,
      valuesOf: (questions) => {
        const plates = questions.flatMap((question, index) =>
          similarPlates(question).map((plate, position) => ({
            ...plate,
            n: index + 1,
            exact: position === 0,
            locationId: question.locationId,
          })),
        );
        return [
          plates.map(({ n }) => n),
          plates.map(({ exact }) => exact),
          plates.map(({ locationId }) => locationId),
          plates.map(({ plateType }) => plateType),
          plates.map(({ plateCode }) => plateCode),
          plates.map(({ plateNumber }) => plateNumber),
        ];
      },
      answerOf: pageOf,
    }),
  };
}
