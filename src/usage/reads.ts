import { ServiceError } from '../errors/error-table.ts';
import { namedStatement } from '../database/named-statement.ts';
import { groupBy } from '../database/group-by.ts';
import { createBatch, createStatementBatch } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { freeMoment } from '../free-moment.ts';

/** What a key did in one hour with one operation. */
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
 * Rows of usage that are read together: to read and show many takes the process's time from others. A month of a key with
 * 25 operations in every hour has fewer.
 */
const maxUsageRows = 20_000;

const tooMuchUsage = new ServiceError(
  'VALIDATION_ERROR',
  `The usage has more than ${maxUsageRows} rows, ask for a shorter time`,
);

/** The hours of a key from the one that holds a time on, as far as they start before another. */
export interface UsageQuestion {
  apiKeyId: string;
  from: Date;
  to: Date;
}

/** Rows that one statement reads: others have their turn between the parts of a long answer. */
const rowsPerPart = 1_000;

/** What is read of the hours of a key: the rows after the last one that was read. */
interface UnreadHours extends UsageQuestion {
  afterOperation: string;
  afterSurface: string;
}

/** The rows that some questions have not read, each with columns of its own; one question after the other. */
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

// Refused is what the service did not look into: over a rate limit, without a valid key or the permission. The
// graph answers most errors with status 200: the code of the error tells of them.
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

/** How many rows questions have, counted no further than one more than is allowed. */
const countUsage = namedStatement(
  'usage-count',
  `SELECT count(*)::int AS count FROM (${unreadRows('', maxUsageRows + 1)}) AS counted`,
);

/** An operation that will be removed, as usage records name it. */
export interface DeprecatedOperation {
  operation: string;
  /** When it may be removed. */
  removedAt: Date;
  /** What to use in its place. */
  replacement: string;
}

/** How often a key used a deprecated operation. */
export interface DeprecatedUse extends DeprecatedOperation {
  requests: number;
  lastUsedAt: Date;
}

/** How far back the use of deprecated operations is counted, in days: what `usage` may be asked for at once. */
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

/** Statements about the use of keys over one database. */
export type UsageReads = ReturnType<typeof createUsageReads>;

/**
 * Prepares the reads of usage; those of one turn of the event loop are joined.
 *
 * @param options.deprecated the operations whose use `deprecatedUse` tells of
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

  /** Answers the questions of one request that came together: with too many rows, none of them. */
  async function readTogether(questions: readonly UsageQuestion[]): Promise<UsageBucket[][] | undefined> {
    const answers = questions.map((): UsageBucket[] => []);
    const all = questions.map((question) => ({ ...question, afterOperation: '', afterSurface: '' }));
    for (let unread = all; ; await freeMoment()) {
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

  const readHours = createBatch<{ question: UsageQuestion; reader: object }, UsageBucket[]>(async (asked) => {
    const answers = new Map<object, UsageBucket[] | ServiceError>();
    await Promise.all(
      [...groupBy(asked, ({ reader }) => reader).values()].map(async (ofReader) => {
        // Thirty aliases of one field ask it once.
        const same = [...groupBy(ofReader, ({ question }) => nameOf(question)).values()];
        const found = await readTogether(same.map(([first]) => first!.question));
        for (const [index, equal] of same.entries()) {
          for (const each of equal) answers.set(each, found?.[index] ?? tooMuchUsage);
        }
      }),
    );
    return asked.map((each) => answers.get(each)!);
  });

  return {
    /** The deprecated operations that a key used in the last `deprecatedUseDays` days, by their name. */
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
     * The requests of a key by hour, operation and surface, in this order.
     *
     * @param reader the request that asks: what it asks at once is one statement
     * @throws {ServiceError} `VALIDATION_ERROR` when that has too many rows together
     */
    byHour: (question: UsageQuestion, reader: object = nobody): Promise<UsageBucket[]> =>
      readHours({ question, reader }),
  };
}

const nobody = {};
const nameOf = ({ apiKeyId, from, to }: UsageQuestion) => `${apiKeyId} ${from.getTime()} ${to.getTime()}`;
