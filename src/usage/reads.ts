import { createStatementBatch } from './batch.ts';
import type { Sql, Statement } from './db.ts';

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

/** The requests of a key from one time on and before another. */
export interface UsageQuestion {
  apiKeyId: string;
  from: Date;
  to: Date;
}

// Refused is what the service did not look into: over a rate limit, or without the permission.
const usageByHour: Statement = {
  name: 'usage-by-hour',
  text: `
    SELECT q.n::int, date_trunc('hour', u."createdAt", 'UTC') AS hour, u.surface, u.operation,
      count(*)::int AS requests,
      count(*) FILTER (WHERE u.status IN (401, 403, 429))::int AS refused,
      count(*) FILTER (WHERE u.status >= 400 AND u.status NOT IN (401, 403, 429))::int AS errors
    FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[])
      WITH ORDINALITY AS q("apiKeyId", "from", "to", n)
    JOIN "UsageRecord" u
      ON u."apiKeyId" = q."apiKeyId" AND u."createdAt" >= q."from" AND u."createdAt" < q."to"
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 4, 3`,
};

/** Statements about the records of requests over one database. */
export type UsageStore = ReturnType<typeof createUsageStore>;

/** Prepares the reads of usage; those of one turn of the event loop are joined. */
export function createUsageStore(sql: Sql) {
  return {
    /** The requests of a key by hour, operation and surface, in this order. */
    byHour: createStatementBatch<UsageQuestion, UsageBucket & { n: number }, UsageBucket[]>(sql, {
      statementOf: () => usageByHour,
      valuesOf: (questions) => [
        questions.map(({ apiKeyId }) => apiKeyId),
        questions.map(({ from }) => from.toISOString()),
        questions.map(({ to }) => to.toISOString()),
      ],
      answerOf: (rows) => rows,
    }),
  };
}
