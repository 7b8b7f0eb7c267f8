import type { JsonPage, JsonShape, Page } from '../pages.ts';
import { columnList, columnsAsJson } from './columns.ts';
import { namedStatement, type NamedStatement } from './named-statement.ts';
import { isOfCompanies } from './of-companies.ts';
import { createStatementBatch } from './statement-batch.ts';
import type { Database, Sql } from './types.ts';

/**
 * Rows of a list that one statement counts on the embedded database, where everybody waits for the statement that runs,
 * and how many lists it counts at once.
 */
const rowsPerCount = 2_000;
const maxJoinedCounts = 10;

/** How many pages as JSON one statement reads at most: each is long, and they can be read side by side. */
const maxJoinedJsonPages = 10;

/** A list of rows that have one owner, such as the events of a location. */
interface KeysetListOptions<Question, Shared> {
  /** The kind of the database: the embedded one counts long lists part by part. */
  kind: Database['kind'];
  /** The table of the rows, and its columns as Prisma lists them. */
  table: string;
  fields: Readonly<Record<string, string>>;
  /** What is read in place of a column: an expression on a row `r`, which must not use other tables. */
  expressions?: Readonly<Record<string, string>>;
  /** Which of the columns are instants; for pages as JSON. */
  instants?: readonly string[];
  /** Further columns of a page as JSON, about its owner `o`. */
  jsonPageColumns?: string;
  /** The table of the owners, and the column of a row that names its own. */
  owner: { table: 'Company' | 'Location'; column: string };
  /** What a question may ask for: a column to be equal to a value of a type, or a condition of its own. */
  filters?: Readonly<Record<string, 'text' | 'boolean' | FilterCondition>>;
  /** A further condition on a row `r`. */
  condition?: string;
  /** The parameters of the condition; questions with the same ones, by identity, share a statement. */
  sharedOf?: (question: Question) => Shared;
  sharedParameters?: (shared: Shared) => Readonly<Record<string, unknown>>;
}

/** A filter that is more than equality: the type of its value, and the condition on a row `r` for a question `q`. */
interface FilterCondition {
  type: 'boolean' | 'timestamptz';
  condition: string;
  /** Whether an index has the rows that it lets pass, sorted by their ids. */
  hasIndex: boolean;
}

/** A page of one owner's rows; undefined for an unknown owner. */
export interface OwnedRows<Row> {
  /** The identifier of the owner, and of the company that it belongs to. */
  id: string;
  companyId: string;
  rows: Row[];
}

/** The same as JSON, with `jsonPageColumns`. */
type OwnedJson<Further> = JsonPage & Further & { id: string; companyId: string };

interface Question {
  ownerId: string;
  /** The companies one of which must own the owner, as `isOfCompanies` takes them; any when left out. */
  ofCompanies?: string | null | undefined;
}

type JsonQuestion = Pick<Page, 'after' | 'limit'> & { shape: JsonShape };

type FoundRow = { n: number; ownerId: string; ownerCompanyId: string; id: string | null };

/**
 * Prepares the pages and counts of a list that is sorted by id. Questions of one turn of the event loop are joined.
 * Each combination of filters and bounds is a statement of its own, so that each has the plan of its own index.
 */
export function createKeysetList<
  Row extends { id: string },
  Asked extends Question,
  Shared = undefined,
  FurtherColumns = object,
>(sql: Sql, options: KeysetListOptions<Asked, Shared>) {
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

  /** A statement, written when it is first needed. */
  function statement(name: string, text: () => string): NamedStatement {
    const known = statements.get(name);
    if (known) return known;
    const written = namedStatement(name, text());
    statements.set(name, written);
    return written;
  }

  /** The questions as rows `q`, with the given columns. */
  const questions = (columns: string[]) => `
    unnest(${['$ownerId::text[]', ...columns.map((column) => `$${column}::${types.get(column)}[]`)].join(', ')})
      WITH ORDINALITY AS q(${['"ownerId"', ...columns.map((column) => `"${column}"`), 'n'].join(', ')})`;

  /** What a row must be to be in the list of an owner. */
  const membership = (ownerId: string, used: string[]) =>
    [
      `r."${owner.column}" = ${ownerId}`,
      ...used.map((column) => conditions.get(column)),
      ...(condition ? [condition] : []),
    ].join(' AND ');

  const ownerOfQuestion = `"${owner.table}" o ON o.id = q."ownerId" AND ${isOfCompanies(companyOfOwner)}`;
  const usedOf = (question: Asked, columns: string[]) =>
    columns.filter((column) => (question as Record<string, unknown>)[column] !== undefined);

  /** Columns by their numbers, for the name of a statement: PostgreSQL cuts long names. */
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

  /** The number of a shape, for the name of a statement: there are as many as documents of the service's own. */
  function shapeNumber(shape: JsonShape): number {
    const number = shapes.get(shape) ?? shapes.size;
    shapes.set(shape, number);
    return number;
  }

  function jsonStatement(question: Asked & JsonQuestion): NamedStatement {
    const used = usedOf(question, [...conditions.keys()]);
    // A sorted subquery gives its rows to the aggregate in their order (PostgreSQL manual, "Aggregate Functions").
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
   * Counts a part of a list. Filters with an index choose the rows that are read, and the others are asked of each of them:
   * however few rows pass, a part reads no more than its number of rows.
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

  /** The parameters of joined questions: an array for each column, and what they share. */
  const parametersOf = (asked: readonly Asked[], shared: Shared) => ({
    ...Object.fromEntries(
      ['ownerId', ...types.keys()].map((column) => [
        column,
        asked.map((question) => (question as Record<string, unknown>)[column] ?? null),
      ]),
    ),
    ...sharedParameters?.(shared),
  });

  const sharing = options.sharedOf && { sharedOf: options.sharedOf };

  const countPart = createStatementBatch<
    Asked & { after: string },
    { n: number; count: number; read: number; lastId: string },
    { count: number; read: number; lastId: string } | undefined,
    Shared
  >(sql, {
    statementOf: countPartStatement,
    parametersOf,
    ...sharing,
    maxJoined: maxJoinedCounts,
    answerOf: ([part]) => part,
  });

  /** Counts the rows of an owner that pass the filters, part by part. */
  async function countInParts(question: Asked): Promise<number> {
    let counted = 0;
    for (let after = ''; ;) {
      const part = await countPart({ ...question, after });
      if (!part) return counted;
      counted += part.count;
      if (part.read < rowsPerCount) return counted;
      after = part.lastId;
    }
  }

  return {
    /** A page of an owner's rows; undefined for an unknown owner. */
    page: createStatementBatch<Asked & Page, FoundRow, OwnedRows<Row> | undefined, Shared>(sql, {
      statementOf: pageStatement,
      parametersOf,
      ...sharing,
      rowsOf: ({ limit }) => limit,
      answerOf: ([first, ...others]) =>
        first && {
          id: first.ownerId,
          companyId: first.ownerCompanyId,
          rows: first.id === null ? [] : ([first, ...others] as unknown as Row[]),
        },
    }),

    /** A page of an owner's rows as JSON, from the oldest on; undefined for an unknown owner. */
    jsonPage: createStatementBatch<
      Asked & JsonQuestion,
      OwnedJson<FurtherColumns> & { n: number },
      OwnedJson<FurtherColumns> | undefined,
      Shared
    >(sql, {
      statementOf: jsonStatement,
      parametersOf,
      ...sharing,
      maxJoined: maxJoinedJsonPages,
      answerOf: ([page]) => page,
    }),

    /** How many rows of an owner pass the filters. */
    count:
      options.kind === 'embedded'
        ? countInParts
        : createStatementBatch<Asked, { n: number; count: number }, number, Shared>(sql, {
            statementOf: countStatement,
            parametersOf,
            ...sharing,
            answerOf: ([row]) => row?.count ?? 0,
          }),
  };
}
