import type { JsonPage, Page } from '../paging.ts';
import {
  createKeysetStatements,
  type JsonQuestion,
  type KeysetListOptions,
  type Question,
  rowsPerCount,
} from './keyset-statements.ts';
import { createStatementBatch } from './statement-batch.ts';
import type { Sql } from './types.ts';

/** The maximum number of lists whose rows one SQL statement counts on the embedded database. */
const maxJoinedCounts = 10;

/**
 * The maximum number of list pages that one SQL statement reads as JSON. The JSON of a page is long, so one SQL
 * statement reads only a few pages. The gateway can run several SQL statements that read list pages at the same time.
 */
const maxJoinedJsonPages = 10;

/** A page of a list whose rows belong to one owner, such as the whitelist entries of a location. */
export interface OwnedRows<Row> {
  /**
   * The id of the location or company that owns the rows. If a location owns the rows, `companyId` is the id of the
   * location's company; otherwise `companyId` equals `id`.
   */
  id: string;
  companyId: string;
  rows: Row[];
}

/** A page of rows as JSON, with the additional columns from the option `jsonPageColumns`. */
type OwnedJson<Further> = JsonPage & Further & { id: string; companyId: string };

type FoundRow = { n: number; ownerId: string; ownerCompanyId: string; id: string | null };

/**
 * Creates the functions that read and count the pages of a list that is sorted by id. All calls with the same filters
 * that arrive in the same iteration of the event loop share one SQL statement.
 */
export function createKeysetList<
  Row extends { id: string },
  Asked extends Question,
  Shared = undefined,
  FurtherColumns = object,
>(sql: Sql, options: KeysetListOptions<Asked, Shared>) {
  const statements = createKeysetStatements(options);
  const { parametersOf } = statements;
  const sharing = options.sharedOf && { sharedOf: options.sharedOf };

  const countPart = createStatementBatch<
    Asked & { after: string },
    { n: number; count: number; read: number; lastId: string },
    { count: number; read: number; lastId: string } | undefined,
    Shared
  >(sql, {
    statementOf: statements.countPart,
    parametersOf,
    ...sharing,
    maxJoined: maxJoinedCounts,
    answerOf: ([part]) => part,
  });

  /**
   * Counts the rows of one owner, such as a location, that match the filters of a query. A long list is counted with
   * several short SQL statements.
   */
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
    /**
     * Reads a page of the rows that belong to one owner (a location or a company). Returns `undefined` if the owner of
     * the rows does not exist, or belongs to a company that is not in `ofCompanies`.
     */
    page: createStatementBatch<Asked & Page, FoundRow, OwnedRows<Row> | undefined, Shared>(sql, {
      statementOf: statements.page,
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

    /**
     * Reads a page of the rows of one owner (a location or a company) as JSON, oldest row first. Returns `undefined` if
     * the owner of the rows does not exist, or belongs to a company that is not in `ofCompanies`.
     */
    jsonPage: createStatementBatch<
      Asked & JsonQuestion,
      OwnedJson<FurtherColumns> & { n: number },
      OwnedJson<FurtherColumns> | undefined,
      Shared
    >(sql, {
      statementOf: statements.json,
      parametersOf,
      ...sharing,
      maxJoined: maxJoinedJsonPages,
      answerOf: ([page]) => page,
    }),

    /** Counts the rows of one owner, such as a location, that match the filters of a query. */
    count:
      options.kind === 'embedded'
        ? countInParts
        : createStatementBatch<Asked, { n: number; count: number }, number, Shared>(sql, {
            statementOf: statements.count,
            parametersOf,
            ...sharing,
            answerOf: ([row]) => row?.count ?? 0,
          }),
  };
}
