import { ServiceError } from '../errors/error-table.ts';
import { namedStatement } from '../database/named-statement.ts';
import { groupBy } from '../database/group-by.ts';
import { createBatch, createStatementBatch } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';

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

// One question after the other, so that those after the last row that is wanted are not asked.
//
// Refused is what the service did not look into: over a rate limit, without a valid key or the permission. The
// graph answers most errors with status 200: the code of the error tells of them.
const usageByHour = namedStatement(
  'usage-by-hour',
  `
    SELECT q.n::int, b.*
    FROM unnest($apiKeyId::text[], $from::timestamptz[], $to::timestamptz[])
      WITH ORDINALITY AS q("apiKeyId", "from", "to", n)
    CROSS JOIN LATERAL (
      SELECT u.hour, u.surface, u.operation,
        sum(u.requests)::int AS requests,
        coalesce(sum(u.requests) FILTER (WHERE r.refused), 0)::int AS refused,
        coalesce(sum(u.requests) FILTER (WHERE NOT r.refused AND (u.status >= 400 OR u."errorCode" <> '')), 0)::int AS errors
      FROM "UsageTotal" u
      CROSS JOIN LATERAL (
        SELECT u.status IN (401, 403, 429)
          OR u."errorCode" IN ('UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED') AS refused
      ) AS r
      WHERE u."apiKeyId" = q."apiKeyId" AND u.hour >= date_trunc('hour', q."from", 'UTC') AND u.hour < q."to"
      GROUP BY 1, 2, 3
      ORDER BY 1, 3, 2
      LIMIT $mostRows::int
    ) AS b
    LIMIT $mostRows::int`,
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

  /** Answers the questions of one request that came together: with too many rows, none of them. */
  async function readTogether(questions: readonly UsageQuestion[]): Promise<UsageBucket[][] | undefined> {
    const rows = await sql.query<UsageBucket & { n: number }>(
      usageByHour,
      usageByHour.values({
        apiKeyId: questions.map(({ apiKeyId }) => apiKeyId),
        from: questions.map(({ from }) => from),
        to: questions.map(({ to }) => to),
        mostRows: maxUsageRows + 1,
      }),
    );
    if (rows.length > maxUsageRows) return undefined;
    const found = groupBy(rows, ({ n }) => n);
    return questions.map((_, index) => found.get(index + 1) ?? []);
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
