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

/** The maximum number of lists that one SQL statement counts on the embedded database. */
const maxJoinedCounts = 10;

/**
 * The maximum number of JSON pages that one SQL statement reads. Each page is long, and several statements can run in
 * parallel, so the number is small.
 */
const maxJoinedJsonPages = 10;

/** A page with rows of one owner, such as the entries of a location. */
export interface OwnedRows<Row> {
  /** The id of the owner. `companyId` is the id of the company to which the owner belongs. */
  id: string;
  companyId: string;
  rows: Row[];
}

/** A page with rows of one owner as JSON, and the columns of `jsonPageColumns`. */
type OwnedJson<Further> = JsonPage & Further & { id: string; companyId: string };

type FoundRow = { n: number; ownerId: string; ownerCompanyId: string; id: string | null };

/**
 * Creates the functions that read and count the pages of a list that is sorted by id. One SQL statement answers all
 * calls in the same iteration of the event loop.
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

  /** Counts the matching rows of one owner with several short statements. */
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
    /** Reads a page with rows of one owner. The result is undefined for an unknown owner. */
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

    /** Reads a page with rows of one owner as JSON, oldest first. The result is undefined for an unknown owner. */
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

    /** Counts the matching rows of one owner. */
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
