import { ServiceError } from '../errors/error-table.ts';
import { groupBy } from '../database/group-by.ts';
import { parameterArrays } from '../database/named-statement.ts';
import { createQueryBatch, createStatementBatch } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { yieldToEventLoop } from '../scheduling/yield.ts';
import { countUsage, maxUsageRows, rowsPerPart, usageByHour, usageOfOperations } from './statements.ts';

/** The number of requests that an API key sent in one hour for one operation and one API (REST or GraphQL). */
export interface UsageBucket {
  /** The start of the hour, in UTC. */
  hour: Date;
  surface: string;
  operation: string;
  requests: number;
  refused: number;
  errors: number;
}

const tooMuchUsage = new ServiceError(
  'VALIDATION_ERROR',
  `The usage has more than ${maxUsageRows} rows; request a shorter time range`,
);

/**
 * A query for the hourly usage of an API key. The result begins with the hour that contains the time `from`, and ends
 * with the last hour that starts before the time `to`.
 */
export interface UsageQuestion {
  apiKeyId: string;
  from: Date;
  to: Date;
}

/** A deprecated operation. `operation` is the name of the deprecated operation in usage records. */
export interface DeprecatedOperation {
  operation: string;
  /** The earliest date on which a release of the gateway may remove the deprecated operation. */
  removedAt: Date;
  /** The operation that clients should use instead of the deprecated operation. */
  replacement: string;
}

/** How often an API key used a deprecated operation. */
export interface DeprecatedUse extends DeprecatedOperation {
  requests: number;
  lastUsedAt: Date;
}

/**
 * The number of past days for which `deprecatedUse` counts the use of deprecated operations. The longest time range of
 * the GraphQL field `usage` is also 31 days.
 */
export const deprecatedUseDays = 31;

/** The functions that read the usage of API keys from the database. */
export type UsageReads = ReturnType<typeof createUsageReads>;

/**
 * Creates the functions that read the usage of API keys from the database. If a request calls `byHour` several times in
 * one iteration of the event loop, the calls share SQL statements. Calls of `deprecatedUse` in one iteration of the
 * event loop share one SQL statement, even if the calls come from different requests.
 *
 * @param options.deprecated the operations that `deprecatedUse` counts
 */
export function createUsageReads(options: { sql: Sql; deprecated: readonly DeprecatedOperation[] }) {
  const { sql } = options;
  const deprecated = new Map(options.deprecated.map((operation) => [operation.operation, operation]));

  async function hasTooManyRows(parameters: Record<string, unknown[]>): Promise<boolean> {
    const [row] = await sql.query<{ count: number }>(countUsage, countUsage.values(parameters));
    return row!.count > maxUsageRows;
  }

  /**
   * Answers all usage queries of one request together. Returns `undefined` when all usage queries together return more
   * than `maxUsageRows` rows.
   */
  async function readTogether(questions: readonly UsageQuestion[]): Promise<UsageBucket[][] | undefined> {
    const answers = questions.map((): UsageBucket[] => []);
    // If one SQL query does not return all rows, the next query continues after the last row that the process has read.
    const all = questions.map((question) => ({ ...question, afterOperation: '', afterSurface: '' }));
    for (let unread = all; ; await yieldToEventLoop()) {
      const parameters = parameterArrays(unread);
      const rows = await sql.query<UsageBucket & { n: number }>(usageByHour, usageByHour.values(parameters));
      const answered = questions.length - unread.length;
      for (const row of rows) answers[answered + row.n - 1]!.push(row);
      const last = rows.at(-1);
      if (!last || rows.length < rowsPerPart) return answers;
      if (unread === all && (await hasTooManyRows(parameters))) return undefined;
      const [current, ...later] = unread.slice(last.n - 1);
      const read = { from: last.hour, afterOperation: last.operation, afterSurface: last.surface };
      unread = [{ ...current!, ...read }, ...later];
    }
  }

  const readHours = createQueryBatch<{ question: UsageQuestion; reader: object }, UsageBucket[]>(
    async (asked) => {
      const answers = new Map<object, UsageBucket[] | ServiceError>();
      await Promise.all(
        [...groupBy(asked, ({ reader }) => reader).values()].map(async (ofReader) => {
          // If several GraphQL aliases request equal usage queries, the database executes only one query.
          const same = [...groupBy(ofReader, ({ question }) => nameOf(question)).values()];
          const found = await readTogether(same.map(([first]) => first!.question));
          for (const [index, equal] of same.entries()) {
            for (const each of equal) answers.set(each, found?.[index] ?? tooMuchUsage);
          }
        }),
      );
      return asked.map((each) => answers.get(each)!);
    },
  );

  return {
    /** Returns the deprecated operations that an API key used in the last `deprecatedUseDays` days, sorted by name. */
    deprecatedUse: createStatementBatch<
      string,
      Omit<DeprecatedUse, keyof DeprecatedOperation> & { n: number; operation: string },
      DeprecatedUse[]
    >(sql, {
      statementOf: () => usageOfOperations,
      parametersOf: (apiKeyId) => ({
        apiKeyId,
        operations: [...deprecated.keys()],
        days: deprecatedUseDays,
      }),
      answerOf: (rows) =>
        rows.map(({ operation, requests, lastUsedAt }) => ({
          ...deprecated.get(operation)!,
          requests,
          lastUsedAt,
        })),
      keyOf: (apiKeyId) => apiKeyId,
    }),

    /**
     * Returns the number of requests of an API key for each hour, operation and surface (REST or GraphQL). The result
     * is sorted by hour, then by operation, then by surface.
     *
     * @param reader an object that identifies the current request. The gateway combines the usage queries that have the
     *   same `reader`
     * @throws {ServiceError} `VALIDATION_ERROR` when all usage queries of the request together return too many rows
     */
    byHour: (question: UsageQuestion, reader: object): Promise<UsageBucket[]> =>
      readHours({ question, reader }),
  };
}

const nameOf = ({ apiKeyId, from, to }: UsageQuestion) => `${apiKeyId} ${from.getTime()} ${to.getTime()}`;
