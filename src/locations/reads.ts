import type { Company, Location } from '../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from './auth.ts';
import { createBatch, createStatementBatch } from './batch.ts';
import type { Sql, Statement } from './db.ts';
import { scopeCondition, scopeValues } from './scope.ts';

const locationsById: Statement = {
  name: 'locations-by-id',
  text: 'SELECT * FROM "Location" WHERE id = ANY($1::text[])',
};

const companiesById: Statement = {
  name: 'companies-by-id',
  text: 'SELECT * FROM "Company" WHERE id = ANY($1::text[])',
};

/** A page of one company's locations, as far as a key reaches them. */
export interface LocationPageQuestion {
  companyId: string;
  key: AuthenticatedKey;
  after?: string | undefined;
  before?: string | undefined;
  /** How many locations at most. */
  limit: number;
  /** From the newest location on instead of from the oldest. */
  descending: boolean;
}

const pageOfCompany = (direction: 'ASC' | 'DESC'): Statement => ({
  name: `locations-of-company ${direction}`,
  text: `
    SELECT q.n::int, l.*
    FROM unnest($1::text[], $2::text[], $3::text[], $4::int[])
      WITH ORDINALITY AS q("companyId", after, before, "limit", n)
    JOIN LATERAL (
      SELECT * FROM "Location" l
      WHERE l."companyId" = q."companyId" AND (q.after IS NULL OR l.id > q.after)
        AND (q.before IS NULL OR l.id < q.before) AND ${scopeCondition('$5', '$6', '$7')}
      ORDER BY l.id ${direction}
      LIMIT q."limit"
    ) l ON true
    ORDER BY q.n, l.id ${direction}`,
});
const oldestOfCompany = pageOfCompany('ASC');
const newestOfCompany = pageOfCompany('DESC');

const countOfCompany: Statement = {
  name: 'locations-of-company-count',
  text: `
    SELECT q.n::int, count(l.id)::int AS count
    FROM unnest($1::text[]) WITH ORDINALITY AS q("companyId", n)
    LEFT JOIN "Location" l ON l."companyId" = q."companyId" AND ${scopeCondition('$2', '$3', '$4')}
    GROUP BY q.n`,
};

/** What fills a location now, in its own numbers. */
export interface Occupancy {
  occupied: number;
  whitelistedVehicles: number;
  lastActivityAt: Date | null;
}

const occupancies: Statement = {
  name: 'occupancies',
  text: `
    SELECT l.id,
      (SELECT count(*) FROM "ParkingSession" s WHERE s."locationId" = l.id AND s.open)::int AS occupied,
      (SELECT max(e."occurredAt") FROM "ParkingEvent" e WHERE e."locationId" = l.id) AS "lastActivityAt",
      (SELECT count(*) FROM "WhitelistEntry" w WHERE w."locationId" = l.id)::int AS "whitelistedVehicles"
    FROM unnest($1::text[]) AS l(id)`,
};

/** Statements about locations and their companies over one database. */
export type LocationStore = ReturnType<typeof createLocationStore>;

/** Prepares the reads that nested fields repeat; those of one turn of the event loop are joined. */
export function createLocationStore(sql: Sql) {
  const byId = <Row extends { id: string }>(statement: Statement) =>
    createBatch<string, Row | undefined>(async (ids) => {
      const rows = await sql.query<Row>(statement, [[...new Set(ids)]]);
      const found = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => found.get(id));
    });

  const sharedOf = ({ key }: { key: AuthenticatedKey }) => key;

  return {
    /** A page of a company's locations in the scope of a key. */
    ofCompany: createStatementBatch<
      LocationPageQuestion,
      Location & { n: number },
      Location[],
      AuthenticatedKey
    >(sql, {
      statementOf: (question) => (question.descending ? newestOfCompany : oldestOfCompany),
      sharedOf,
      valuesOf: (questions, key) => [
        questions.map((question) => question.companyId),
        questions.map((question) => question.after ?? null),
        questions.map((question) => question.before ?? null),
        questions.map((question) => question.limit),
        ...scopeValues(key),
      ],
      answerOf: (rows) => rows,
    }),

    /** How many locations of a company are in the scope of a key. */
    countOfCompany: createStatementBatch<
      Pick<LocationPageQuestion, 'companyId' | 'key'>,
      { n: number; count: number },
      number,
      AuthenticatedKey
    >(sql, {
      statementOf: () => countOfCompany,
      sharedOf,
      valuesOf: (questions, key) => [questions.map((question) => question.companyId), ...scopeValues(key)],
      answerOf: ([row]) => row?.count ?? 0,
    }),

    /** A location, whoever asks; undefined for an unknown id. */
    location: byId<Location>(locationsById),
    /** A company, whoever asks; undefined for an unknown id. */
    company: byId<Company>(companiesById),
    /** The occupancy of a location. */
    occupancy: byId<Occupancy & { id: string }>(occupancies),
  };
}
