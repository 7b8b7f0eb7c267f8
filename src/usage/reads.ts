import { ServiceError } from '../errors/error-table.ts';
import { namedStatement } from '../database/named-statement.ts';
import { groupBy } from '../database/group-by.ts';
import { createQueryBatch, createStatementBatch } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { yieldToEventLoop } from '../scheduling/yield.ts';

/** The number of requests that an API key sent in one hour for one operation. */
export interface UsageBucket {
  /** The start of the hour, in UTC. */
  hour: Date;
  surface: string;
  operation: string;
  requests: number;
  refused: number;
  errors: number;
}

/**
 * The maximum number of usage rows that one response contains. Reading and formatting more rows would block the
 * process. A key that uses 25 operations in every hour of a month has fewer rows.
 */
const maxUsageRows = 20_000;

const tooMuchUsage = new ServiceError(
  'VALIDATION_ERROR',
  `The usage has more than ${maxUsageRows} rows; request a shorter time range`,
);

/**
 * A query for the usage of an API key. The first hour of the result contains `from`, and the last hour starts before
 * `to`.
 */
export interface UsageQuestion {
  apiKeyId: string;
  from: Date;
  to: Date;
}

/** The maximum number of rows that one SQL statement reads. Other requests can run between two statements. */
const rowsPerPart = 1_000;

/** A query for the remaining rows of a usage query, which come after the last row that was read. */
interface UnreadHours extends UsageQuestion {
  afterOperation: string;
  afterSurface: string;
}

/** SQL for the rows of several usage queries that have not been read yet, sorted by query. */
const unreadRows = (columns: string, limit: number) => `
  SELECT ${columns ? `q.n::int, b.*` : ''}
  FROM unnest($apiKeyId::text[], $from::timestamptz[], $afterOperation::text[], $afterSurface::text[], $to::timestamptz[])
    WITH ORDINALITY AS q("apiKeyId", "from", "afterOperation", "afterSurface", "to", n)
  CROSS JOIN LATERAL (
    SELECT ${columns}
    FROM "UsageTotal" u
    WHERE u."apiKeyId" = q."apiKeyId" AND u.hour < q."to"
      AND (u.hour, u.operation, u.surface)
        > (date_trunc('hour', q."from", 'UTC'), q."afterOperation", q."afterSurface")
    GROUP BY u.hour, u.operation, u.surface
    ORDER BY u.hour, u.operation, u.surface
    LIMIT ${limit}
  ) AS b
  LIMIT ${limit}`;

// The SQL condition that a request was rejected before execution. The reason was an exceeded rate limit, an invalid or
// missing key, or a missing permission. GraphQL answers most errors with status 200, so the error code decides for
// GraphQL requests.
const isRefused = `(u.status IN (401, 403, 429)
      OR u."errorCode" IN ('UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED'))`;

const usageByHour = namedStatement(
  'usage-by-hour',
  unreadRows(
    `u.hour, u.surface, u.operation,
      sum(u.requests)::int AS requests,
      coalesce(sum(u.requests) FILTER (WHERE ${isRefused}), 0)::int AS refused,
      coalesce(sum(u.requests) FILTER (WHERE NOT ${isRefused} AND (u.status >= 400 OR u."errorCode" <> '')), 0)::int AS errors`,
    rowsPerPart,
  ),
);

/** Counts the rows of several usage queries. The counting stops at one row more than the maximum. */
const countUsage = namedStatement(
  'usage-count',
  `SELECT count(*)::int AS count FROM (${unreadRows('', maxUsageRows + 1)}) AS counted`,
);

/** A deprecated operation, with the name that it has in usage records. */
export interface DeprecatedOperation {
  operation: string;
  /** The earliest date on which a release may remove the operation. */
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
 * The number of days for which the use of deprecated operations is counted. It is also the longest time range of the
 * field `usage`.
 */
export const deprecatedUseDays = 31;

const usageOfOperations = namedStatement(
  'usage-of-operations',
  `
    SELECT q.n::int, u.operation, sum(u.requests)::int AS requests, max(u."lastUsedAt") AS "lastUsedAt"
    FROM unnest($apiKeyId::text[]) WITH ORDINALITY AS q("apiKeyId", n)
    JOIN "UsageTotal" u
      ON u."apiKeyId" = q."apiKeyId"
      AND u.hour >= date_trunc('hour', now() - make_interval(days => $days::int), 'UTC')
      AND u.operation = ANY($operations::text[])
    GROUP BY 1, 2
    ORDER BY 1, 2`,
);

/** The functions that read the usage of keys from one database. */
export type UsageReads = ReturnType<typeof createUsageReads>;

/**
 * Creates the functions that read usage. One SQL statement answers all calls in the same iteration of the event loop.
 *
 * @param options.deprecated the operations that `deprecatedUse` counts
 */
export function createUsageReads(options: { sql: Sql; deprecated: readonly DeprecatedOperation[] }) {
  const { sql } = options;
  const deprecated = new Map(options.deprecated.map((operation) => [operation.operation, operation]));

  const parametersOf = (hours: readonly UnreadHours[]) => ({
    apiKeyId: hours.map(({ apiKeyId }) => apiKeyId),
    from: hours.map(({ from }) => from),
    afterOperation: hours.map(({ afterOperation }) => afterOperation),
    afterSurface: hours.map(({ afterSurface }) => afterSurface),
    to: hours.map(({ to }) => to),
  });

  async function hasTooManyRows(hours: readonly UnreadHours[]): Promise<boolean> {
    const [row] = await sql.query<{ count: number }>(countUsage, countUsage.values(parametersOf(hours)));
    return row!.count > maxUsageRows;
  }

  /**
   * Answers all usage queries of one request together. The result is undefined when the answers together have too many
   * rows.
   */
  async function readTogether(questions: readonly UsageQuestion[]): Promise<UsageBucket[][] | undefined> {
    const answers = questions.map((): UsageBucket[] => []);
    const all = questions.map((question) => ({ ...question, afterOperation: '', afterSurface: '' }));
    for (let unread = all; ; await yieldToEventLoop()) {
      const rows = await sql.query<UsageBucket & { n: number }>(
        usageByHour,
        usageByHour.values(parametersOf(unread)),
      );
      const answered = questions.length - unread.length;
      for (const row of rows) answers[answered + row.n - 1]!.push(row);
      const last = rows.at(-1);
      if (!last || rows.length < rowsPerPart) return answers;
      if (unread === all && (await hasTooManyRows(all))) return undefined;
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
          // If several GraphQL aliases ask for the same usage, the database gets only one query.
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
     * Returns how many requests an API key sent in each hour, sorted by hour, operation and surface (REST or GraphQL).
     *
     * @param reader the request that asks for the usage; all usage queries of one request are answered together
     * @throws {ServiceError} `VALIDATION_ERROR` when the answers to all usage queries of the request have too many rows
     *   together
     */
    byHour: (question: UsageQuestion, reader: object = unknownReader): Promise<UsageBucket[]> =>
      readHours({ question, reader }),
  };
}

const unknownReader = {};
const nameOf = ({ apiKeyId, from, to }: UsageQuestion) => `${apiKeyId} ${from.getTime()} ${to.getTime()}`;
