import type { JsonShape, Page } from '../paging.ts';
import { columnList, columnsAsJson } from './columns.ts';
import { isOfCompanies } from './company-scope.ts';
import { namedStatement, type NamedStatement } from './named-statement.ts';
import type { Database } from './types.ts';

/**
 * The maximum number of rows that one statement counts on the embedded database. The number is limited, because all
 * other requests wait while a statement runs there.
 */
export const rowsPerCount = 2_000;

/** Describes a list whose rows belong to owners, such as the events of locations. */
export interface KeysetListOptions<Question, Shared> {
  /**
   * Whether the gateway uses the embedded database or PostgreSQL. The embedded database counts long lists in several
   * steps.
   */
  kind: Database['kind'];
  /** The name of the table with the rows. `columns` has its columns as Prisma lists them. */
  table: string;
  fields: Readonly<Record<string, string>>;
  /**
   * SQL expressions that are selected instead of the columns with the same names. An expression may use the row `r`,
   * but no other tables.
   */
  expressions?: Readonly<Record<string, string>>;
  /** The columns with instants. JSON pages need them. */
  instants?: readonly string[];
  /** SQL for additional columns of a JSON page. The SQL may use the owner `o` of the list. */
  jsonPageColumns?: string;
  /** The table of the owners, and the column in each row with the id of its owner. */
  owner: { table: 'Company' | 'Location'; column: string };
  /**
   * The filters that a query can have. A filter requires that a column equals a value of the given type, or has a
   * condition of its own.
   */
  filters?: Readonly<Record<string, 'text' | 'boolean' | FilterCondition>>;
  /** An additional condition for every row `r` of the list. */
  condition?: string;
  /**
   * Returns a value from which the parameters of `condition` are computed. One SQL statement answers all queries for
   * which this function returns the same object.
   */
  sharedOf?: (question: Question) => Shared;
  sharedParameters?: (shared: Shared) => Readonly<Record<string, unknown>>;
}

/**
 * A filter that does not test for equality. It has the type of its value, and an SQL condition on a row `r` for a query
 * `q`.
 */
interface FilterCondition {
  type: 'boolean' | 'timestamptz';
  condition: string;
  /** Whether a database index contains the matching rows in the order of their ids. */
  hasIndex: boolean;
}

export interface Question {
  ownerId: string;
  /**
   * The companies to which the owner must belong, as `isOfCompanies` expects them. If omitted, the owner may belong to
   * any company.
   */
  ofCompanies?: string | null | undefined;
}

export type JsonQuestion = Pick<Page, 'after' | 'limit'> & { shape: JsonShape };

/**
 * Creates the SQL statements for a list that is sorted by id. There is a statement for each combination of filters and
 * bounds, so that PostgreSQL can choose the best index for it.
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

  /** Returns a statement by name. The SQL text is created only when the statement is first used. */
  function statement(name: string, text: () => string): NamedStatement {
    const known = statements.get(name);
    if (known) return known;
    const written = namedStatement(name, text());
    statements.set(name, written);
    return written;
  }

  /** Returns SQL that converts the parameters of several queries to rows `q` with the given columns. */
  const questions = (columns: string[]) => `
    unnest(${['$ownerId::text[]', ...columns.map((column) => `$${column}::${types.get(column)}[]`)].join(', ')})
      WITH ORDINALITY AS q(${['"ownerId"', ...columns.map((column) => `"${column}"`), 'n'].join(', ')})`;

  /** Returns the SQL condition that a row is in the list of an owner. */
  const membership = (ownerId: string, used: string[]) =>
    [
      `r."${owner.column}" = ${ownerId}`,
      ...used.map((column) => conditions.get(column)),
      ...(condition ? [condition] : []),
    ].join(' AND ');

  const ownerOfQuestion = `"${owner.table}" o ON o.id = q."ownerId" AND ${isOfCompanies(companyOfOwner)}`;
  const usedOf = (question: Asked, columns: string[]) =>
    columns.filter((column) => (question as Record<string, unknown>)[column] !== undefined);

  /**
   * Returns numbers in place of column names. PostgreSQL truncates long statement names, so the names must be short.
   */
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

  /**
   * Returns a number for a JSON shape, for the name of a statement. Only the gateway's own documents have JSON shapes,
   * so there are few.
   */
  function shapeNumber(shape: JsonShape): number {
    const number = shapes.get(shape) ?? shapes.size;
    shapes.set(shape, number);
    return number;
  }

  function jsonStatement(question: Asked & JsonQuestion): NamedStatement {
    const used = usedOf(question, [...conditions.keys()]);
    // PostgreSQL guarantees that the aggregate receives the rows in the order of the sorted subquery (manual,
    // "Aggregate Functions").
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
   * Counts a part of a list. Filters with an index select the rows that are read, and all other filters are then
   * checked for each row. A part therefore reads a fixed number of rows, even if few rows match.
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

  /**
   * Returns the parameters of several queries for one statement. There is an array for each column, and the parameters
   * that all queries have in common.
   */
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
