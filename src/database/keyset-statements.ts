import type { JsonShape, Page } from '../paging.ts';
import { columnList, columnsAsJson } from './columns.ts';
import { isOfCompanies } from './company-scope.ts';
import { namedStatement, type NamedStatement } from './named-statement.ts';
import type { Database } from './types.ts';

/**
 * The maximum number of rows that one statement counts on the embedded database. While a statement runs there, every
 * other request waits, so long counts are split.
 */
export const rowsPerCount = 2_000;

/** A list of rows that have one owner, such as the events of a location. */
export interface KeysetListOptions<Question, Shared> {
  /** The kind of the database. On the embedded database, long lists are counted in parts. */
  kind: Database['kind'];
  /** The table of the rows, and its columns as Prisma lists them. */
  table: string;
  fields: Readonly<Record<string, string>>;
  /** SQL expressions that are read instead of columns. An expression may use the row `r`, but no other tables. */
  expressions?: Readonly<Record<string, string>>;
  /** The columns that contain instants, for JSON pages. */
  instants?: readonly string[];
  /** Additional columns of a JSON page. Their SQL may use the owner `o` of the list. */
  jsonPageColumns?: string;
  /** The table of the owners, and the column of a row that contains the id of its owner. */
  owner: { table: 'Company' | 'Location'; column: string };
  /** The filters of a query. A filter compares a column with a value of the given type, or has its own condition. */
  filters?: Readonly<Record<string, 'text' | 'boolean' | FilterCondition>>;
  /** An additional condition that every row `r` of the list must meet. */
  condition?: string;
  /** Returns the parameters of the condition. Queries whose parameters are the identical object share a statement. */
  sharedOf?: (question: Question) => Shared;
  sharedParameters?: (shared: Shared) => Readonly<Record<string, unknown>>;
}

/** A filter other than equality: the type of its value, and the SQL condition on a row `r` for a query `q`. */
interface FilterCondition {
  type: 'boolean' | 'timestamptz';
  condition: string;
  /** Whether an index contains the matching rows in the order of their ids. */
  hasIndex: boolean;
}

export interface Question {
  ownerId: string;
  /**
   * The companies to which the owner must belong, in the form of `isOfCompanies`. If omitted, the owner may belong to
   * any company.
   */
  ofCompanies?: string | null | undefined;
}

export type JsonQuestion = Pick<Page, 'after' | 'limit'> & { shape: JsonShape };

/**
 * Creates the SQL statements of a list that is sorted by id. Each combination of filters and bounds has its own
 * statement, so that PostgreSQL can choose the best index for the combination.
 */
export function createKeysetStatements<Asked extends Question, Shared>(
  options: KeysetListOptions<Asked, Shared>,
) {
  const {
    table,
    fields,
    expressions = {},
    owner,
    condition,
    sharedParameters,
    instants = [],
    jsonPageColumns,
  } = options;
  const rowColumns = columnList(Object.keys(fields), (quoted, column) =>
    expressions[column] ? `${expressions[column]} AS ${quoted}` : `r.${quoted}`,
  );
  const companyOfOwner = `o."${owner.table === 'Company' ? 'id' : 'companyId'}"`;
  const filters = Object.entries(options.filters ?? {}).map(([name, filter]) =>
    typeof filter === 'string'
      ? { name, type: filter, condition: `r."${name}" = q."${name}"` }
      : { name, ...filter },
  );
  const bounds = [
    { name: 'after', type: 'text', condition: 'r.id > q.after' },
    { name: 'before', type: 'text', condition: 'r.id < q.before' },
  ];
  const filterNames = filters.map(({ name }) => name);
  const conditions = new Map([...filters, ...bounds].map(({ name, condition }) => [name, condition]));
  const types = new Map(
    [...filters, ...bounds, { name: 'limit', type: 'int' }, { name: 'ofCompanies', type: 'text' }].map(
      ({ name, type }) => [name, type],
    ),
  );
  const statements = new Map<string, NamedStatement>();

  /**
   * Returns a statement by name. The text of the statement is written when the statement is used for the first time.
   */
  function statement(name: string, text: () => string): NamedStatement {
    const known = statements.get(name);
    if (known) return known;
    const written = namedStatement(name, text());
    statements.set(name, written);
    return written;
  }

  /** Writes the SQL that turns the joined queries into rows `q` with the given columns. */
  const questions = (columns: string[]) => `
    unnest(${['$ownerId::text[]', ...columns.map((column) => `$${column}::${types.get(column)}[]`)].join(', ')})
      WITH ORDINALITY AS q(${['"ownerId"', ...columns.map((column) => `"${column}"`), 'n'].join(', ')})`;

  /** Writes the condition that a row is in the list of an owner. */
  const membership = (ownerId: string, used: string[]) =>
    [
      `r."${owner.column}" = ${ownerId}`,
      ...used.map((column) => conditions.get(column)),
      ...(condition ? [condition] : []),
    ].join(' AND ');

  const ownerOfQuestion = `"${owner.table}" o ON o.id = q."ownerId" AND ${isOfCompanies(companyOfOwner)}`;
  const usedOf = (question: Asked, columns: string[]) =>
    columns.filter((column) => (question as Record<string, unknown>)[column] !== undefined);

  /** Writes column names as numbers, so that the name of a statement stays short. PostgreSQL truncates long names. */
  const numbersOf = (used: string[]) => used.map((column) => [...types.keys()].indexOf(column)).join();

  function pageStatement(question: Asked & Page): NamedStatement {
    const used = usedOf(question, [...conditions.keys()]);
    const direction = question.descending ? 'DESC' : 'ASC';
    return statement(
      `${table}-page ${direction} ${numbersOf(used)}`,
      () => `
        SELECT q.n::int, o.id AS "ownerId", ${companyOfOwner} AS "ownerCompanyId", ${rowColumns}
        FROM ${questions([...used, 'limit', 'ofCompanies'])}
        JOIN ${ownerOfQuestion}
        LEFT JOIN LATERAL (
          SELECT * FROM "${table}" r WHERE ${membership('o.id', used)} ORDER BY r.id ${direction} LIMIT q."limit"
        ) r ON true
        ORDER BY q.n, r.id ${direction}`,
    );
  }

  const shapes = new Map<JsonShape, number>();

  /** Returns the number of a shape, for the name of a statement. Only documents of the gateway itself have shapes. */
  function shapeNumber(shape: JsonShape): number {
    const number = shapes.get(shape) ?? shapes.size;
    shapes.set(shape, number);
    return number;
  }

  function jsonStatement(question: Asked & JsonQuestion): NamedStatement {
    const used = usedOf(question, [...conditions.keys()]);
    // The aggregate receives the rows in the order of the sorted subquery, as the PostgreSQL manual guarantees
    // ("Aggregate Functions").
    return statement(
      `${table}-json ${shapeNumber(question.shape)} ${numbersOf(used)}`,
      () => `
        SELECT q.n::int, o.id, ${companyOfOwner} AS "companyId", page.*${jsonPageColumns ? `, ${jsonPageColumns}` : ''}
        FROM ${questions([...used, 'limit', 'ofCompanies'])}
        JOIN ${ownerOfQuestion}
        CROSS JOIN LATERAL (
          SELECT coalesce(string_agg(${columnsAsJson('r', question.shape, instants)}, ','), '') AS items,
            count(*)::int AS count, max(r.id) AS "lastId"
          FROM (
            SELECT * FROM "${table}" r WHERE ${membership('o.id', used)} ORDER BY r.id LIMIT q."limit"
          ) r
        ) page`,
    );
  }

  function countStatement(question: Asked): NamedStatement {
    const used = usedOf(question, filterNames);
    return statement(
      `${table}-count ${numbersOf(used)}`,
      () => `
        SELECT q.n::int, (SELECT count(*) FROM "${table}" r WHERE ${membership('o.id', used)})::int AS count
        FROM ${questions([...used, 'ofCompanies'])}
        JOIN ${ownerOfQuestion}`,
    );
  }

  /**
   * Counts a part of a list. Filters with an index select the rows to read, and the other filters are checked on each
   * of these rows. A part therefore reads a fixed number of rows, even if few of the rows match.
   */
  function countPartStatement(question: Asked): NamedStatement {
    const used = usedOf(question, filterNames);
    const isIndexed = (name: string) => {
      const filter = options.filters?.[name];
      return typeof filter === 'string' || filter?.hasIndex;
    };
    const checks = [
      ...used.filter((name) => !isIndexed(name)).map((name) => conditions.get(name)!),
      ...(condition ? [condition] : []),
    ];
    const chosenBy = [...used.filter(isIndexed), 'after'].map((name) => conditions.get(name)!);
    return statement(
      `${table}-count-part ${numbersOf(used)}`,
      () => `
        SELECT q.n::int, part.*
        FROM ${questions([...used, 'after', 'ofCompanies'])}
        JOIN ${ownerOfQuestion}
        CROSS JOIN LATERAL (
          SELECT count(*)${checks.length > 0 ? ` FILTER (WHERE ${checks.join(' AND ')})` : ''}::int AS count,
            count(*)::int AS read, max(r.id) AS "lastId"
          FROM (
            SELECT ${checks.length > 0 ? '*' : 'r.id'} FROM "${table}" r
            WHERE r."${owner.column}" = o.id AND ${chosenBy.join(' AND ')}
            ORDER BY r.id LIMIT ${rowsPerCount}
          ) r
        ) part`,
    );
  }

  /** Returns the parameters of joined queries: an array for each column, and the parameters that all queries share. */
  const parametersOf = (asked: readonly Asked[], shared: Shared) => ({
    ...Object.fromEntries(
      ['ownerId', ...types.keys()].map((column) => [
        column,
        asked.map((question) => (question as Record<string, unknown>)[column] ?? null),
      ]),
    ),
    ...sharedParameters?.(shared),
  });

  return {
    page: pageStatement,
    json: jsonStatement,
    count: countStatement,
    countPart: countPartStatement,
    parametersOf,
  };
}
