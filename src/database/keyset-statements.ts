import type { JsonShape, Page } from '../paging.ts';
import { columnList, columnsAsJson } from './columns.ts';
import { isOfCompanies } from './company-scope.ts';
import { namedStatement, type NamedStatement } from './named-statement.ts';
import type { Database } from './types.ts';

/**
 * The maximum number of rows that one statement counts on the embedded database. While a statement runs on the
 * embedded database, all other requests wait, so each statement must be short.
 */
export const rowsPerCount = 2_000;

/** Describes a list of rows that belong to an owner, such as the parking events of a location. */
export interface KeysetListOptions<Question, Shared> {
  /** The kind of database. On the embedded database, a long list is counted in several steps. */
  kind: Database['kind'];
  /** The name of the database table with the rows of the list. The option `fields` lists the columns of the table. */
  table: string;
  fields: Readonly<Record<string, string>>;
  /**
   * SQL expressions that replace columns of the table in the result of a statement. Each key of the object is the name
   * of a column, and the value is the SQL expression that replaces this column. An SQL expression can use only the
   * columns of the alias `r` (a row of the list).
   */
  expressions?: Readonly<Record<string, string>>;
  /**
   * The columns that contain points in time. When the gateway reads a page as JSON, the SQL statement converts the
   * values of these columns to the text format of the API.
   */
  instants?: readonly string[];
  /**
   * SQL for the additional columns of a page that is read as JSON. In `jsonPageColumns`, the alias `o` stands for the
   * row of the list's owner, such as a location.
   */
  jsonPageColumns?: string;
  /**
   * The owner of a row is a company or a location. For example, a location owns its whitelist entries. `table` is the
   * table of the owners. Each row of the list contains the id of its owner in the database column with the name
   * `column`.
   */
  owner: { table: 'Company' | 'Location'; column: string };
  /**
   * The filters that a query can have. If a filter has the type `text` or `boolean`, its name is the name of a column.
   * The list then contains only rows in which this column has the value that the client sent. A filter of the type
   * `FilterCondition` contains a hand-written SQL condition.
   */
  filters?: Readonly<Record<string, 'text' | 'boolean' | FilterCondition>>;
  /** An additional SQL condition that every row `r` of the list must meet. */
  condition?: string;
  /**
   * Returns the data that the SQL parameters of `condition` need, for example the API key of the client. The function
   * `sharedParameters` converts the result of `sharedOf` to the SQL parameters. One SQL statement can answer several
   * queries only if `sharedOf` returns the same object for each of these queries.
   */
  sharedOf?: (question: Question) => Shared;
  sharedParameters?: (shared: Shared) => Readonly<Record<string, unknown>>;
}

/**
 * A filter with a hand-written SQL condition. In the SQL condition, the alias `r` stands for a row of the list. The
 * alias `q` stands for a row with the SQL parameters of one query, such as the value of the filter.
 */
interface FilterCondition {
  type: 'boolean' | 'timestamptz';
  condition: string;
  /** Whether an index lets PostgreSQL read the rows that match the filter, sorted by their ids. */
  hasIndex: boolean;
}

export interface Question {
  ownerId: string;
  /**
   * The ids of companies, separated by spaces (see `isOfCompanies`). The id of the owner is `ownerId`. With
   * `ofCompanies`, the statement returns only the rows of these companies and of their locations. If `ofCompanies` is
   * omitted, the statement returns the rows of any owner.
   */
  ofCompanies?: string | null | undefined;
}

export type JsonQuestion = Pick<Page, 'after' | 'limit'> & { shape: JsonShape };

/**
 * Creates the SQL statements for a list that is sorted by id. Each combination of filters and page bounds (`after`,
 * `before`) has its own SQL statement, so that PostgreSQL can choose the best index for each combination.
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
   * Returns the SQL statement with a given name. The SQL text of a statement is created when the statement is used for
   * the first time.
   */
  function statement(name: string, text: () => string): NamedStatement {
    const known = statements.get(name);
    if (known) return known;
    const written = namedStatement(name, text());
    statements.set(name, written);
    return written;
  }

  /** Returns SQL that converts the parameters of several queries to a table `q` with one row for each query. */
  const questions = (columns: string[]) => `
    unnest(${['$ownerId::text[]', ...columns.map((column) => `$${column}::${types.get(column)}[]`)].join(', ')})
      WITH ORDINALITY AS q(${['"ownerId"', ...columns.map((column) => `"${column}"`), 'n'].join(', ')})`;

  /**
   * Returns an SQL condition that selects rows of the list. A row must belong to the given owner and match each filter
   * and page bound in the list `used`.
   */
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
   * Returns the numbers of a query's filters and page bounds as text. The name of the SQL statement contains this text.
   * Each filter and each page bound always has the same number. The statement name contains numbers instead of names,
   * because PostgreSQL truncates long statement names.
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
   * Returns the number that identifies a JSON shape in the names of SQL statements. A JSON shape is the list of fields
   * that each row has in the JSON of a list. There are only a few JSON shapes, because the code of the gateway defines
   * them, and clients cannot add any.
   */
  function shapeNumber(shape: JsonShape): number {
    const number = shapes.get(shape) ?? shapes.size;
    shapes.set(shape, number);
    return number;
  }

  function jsonStatement(question: Asked & JsonQuestion): NamedStatement {
    const used = usedOf(question, [...conditions.keys()]);
    // PostgreSQL guarantees that an aggregate function receives the rows in the order of the sorted subquery (manual,
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
   * Returns an SQL statement that reads one part of a list, and counts the rows of this part that match the client's
   * filters. PostgreSQL first uses an index to read at most `rowsPerCount` rows. PostgreSQL then checks each row that
   * it has read against the filters that have no index. One SQL statement therefore reads at most `rowsPerCount` rows,
   * even if no row matches all filters.
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
   * Returns the parameters of one SQL statement that answers several queries. For each column, the SQL statement has
   * one parameter: an array with one value for each query. An SQL parameter that does not belong to a column has a
   * single value, which all queries share.
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
