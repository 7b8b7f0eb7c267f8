import { namedStatement } from '../database/named-statement.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
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

/** The hours of a key from the one that holds a time on, as far as they start before another. */
export interface UsageQuestion {
  apiKeyId: string;
  from: Date;
  to: Date;
}

// Refused is what the service did not look into: over a rate limit, without a valid key or the permission. The
// graph answers most errors with status 200: the code of the error tells of them.
const usageByHour = namedStatement(
  'usage-by-hour',
  `
    SELECT q.n::int, u.hour, u.surface, u.operation,
      sum(u.requests)::int AS requests,
      coalesce(sum(u.requests) FILTER (WHERE r.refused), 0)::int AS refused,
      coalesce(sum(u.requests) FILTER (WHERE NOT r.refused AND (u.status >= 400 OR u."errorCode" <> '')), 0)::int AS errors
    FROM unnest($apiKeyId::text[], $from::timestamptz[], $to::timestamptz[])
      WITH ORDINALITY AS q("apiKeyId", "from", "to", n)
    JOIN "UsageTotal" u
      ON u."apiKeyId" = q."apiKeyId" AND u.hour >= date_trunc('hour', q."from", 'UTC') AND u.hour < q."to"
    CROSS JOIN LATERAL (
      SELECT u.status IN (401, 403, 429)
        OR u."errorCode" IN ('UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED') AS refused
    ) AS r
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 4, 3`,
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

    /** The requests of a key by hour, operation and surface, in this order. */
    byHour: createStatementBatch<UsageQuestion, UsageBucket & { n: number }, UsageBucket[]>(sql, {
      statementOf: () => usageByHour,
      parametersOf: (questions) => ({
        apiKeyId: questions.map(({ apiKeyId }) => apiKeyId),
        from: questions.map(({ from }) => from),
        to: questions.map(({ to }) => to),
      }),
      answerOf: (rows) => rows,
      // Thirty aliases of one field ask it once.
      keyOf: ({ apiKeyId, from, to }) => `${apiKeyId} ${from.getTime()} ${to.getTime()}`,
    }),
  };
}
