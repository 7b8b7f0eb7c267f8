import { advisoryLocks } from '../database/advisory-locks.ts';
import { namedStatement } from '../database/named-statement.ts';

// The SQL statements that write and read usage records, and that create and drop the partitions of their table.

/**
 * Writes a batch of usage records. When the database does not answer, the usage recorder sends the same batch of usage
 * records again. Each usage recorder numbers its batches, so that the SQL statement can skip a batch that is already in
 * the database. Each insert locks the row of its usage recorder, so concurrent inserts for the same usage recorder wait
 * for each other. A database trigger adds the new usage records to the totals (`UsageTotal`). The database trigger
 * always locks the rows of `UsageTotal` in the same order, so that processes cannot deadlock.
 */
export const insertUsage = namedStatement(
  'usage-insert',
  `
    WITH batch AS (
      INSERT INTO "UsageRecorder" AS r (id, "lastBatch") VALUES ($recorderId, $batch)
      ON CONFLICT (id) DO UPDATE SET "lastBatch" = excluded."lastBatch", "writtenAt" = excluded."writtenAt"
        WHERE r."lastBatch" < excluded."lastBatch"
      RETURNING id
    ),
    locked AS MATERIALIZED (
      SELECT k.id FROM "ApiKey" k
      WHERE k.id = ANY($apiKeyId::text[]) AND EXISTS (SELECT FROM batch) ORDER BY k.id FOR NO KEY UPDATE
    ),
    inserted AS (
      INSERT INTO "UsageRecord"
        ("apiKeyId", "requestId", surface, operation, status, "errorCode", "durationMs", address, "createdAt")
      SELECT u.* FROM unnest($apiKeyId::text[], $requestId::text[], $surface::text[], $operation::text[],
        $status::int[], $errorCode::text[], $durationMs::float8[], $address::text[], $createdAt::timestamptz[]) AS u
      WHERE EXISTS (SELECT FROM batch)
      RETURNING "apiKeyId", "createdAt"
    )
    UPDATE "ApiKey" k SET "lastUsedAt" = greatest(k."lastUsedAt", used.at)
    FROM locked JOIN (SELECT "apiKeyId", max("createdAt") AS at FROM inserted GROUP BY 1) AS used
      ON used."apiKeyId" = locked.id
    WHERE k.id = locked.id`,
);

/**
 * The maximum number of usage rows that one response contains. A response with more than `maxUsageRows` rows would take
 * the process so much time that other requests would have to wait. For example, an API key that uses 25 operations in
 * every hour has about 18,600 usage rows in a month.
 */
export const maxUsageRows = 20_000;

/**
 * The maximum number of rows that one run of `usageByHour` reads. Between two runs of `usageByHour`, the process can
 * answer other requests.
 */
export const rowsPerPart = 1_000;

/**
 * SQL that reads usage totals. A GraphQL response may contain the field `usage` several times, for several API keys.
 * One SQL statement reads the usage totals for all fields `usage` of a GraphQL response. For each field `usage`, the
 * SQL statement skips the rows that the process has already read. The rows of the query result are in the same order as
 * the fields `usage` in the response.
 */
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

/**
 * The SQL condition for requests that the gateway refused because of a rate limit, an invalid API key or a missing
 * permission. The SQL condition checks both the error code and the HTTP status, because most GraphQL responses with an
 * error have the HTTP status 200.
 */
const isRefused = `(u.status IN (401, 403, 429)
      OR u."errorCode" IN ('UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED'))`;

/** Reads the next hourly usage rows for several usage queries, at most `rowsPerPart` rows in total. */
export const usageByHour = namedStatement(
  'usage-by-hour',
  unreadRows(
    `u.hour, u.surface, u.operation,
      sum(u.requests)::int AS requests,
      coalesce(sum(u.requests) FILTER (WHERE ${isRefused}), 0)::int AS refused,
      coalesce(sum(u.requests) FILTER (WHERE NOT ${isRefused} AND (u.status >= 400 OR u."errorCode" <> '')), 0)::int AS errors`,
    rowsPerPart,
  ),
);

/** Counts the rows that several usage queries return. The SQL statement counts at most `maxUsageRows` + 1 rows. */
export const countUsage = namedStatement(
  'usage-count',
  `SELECT count(*)::int AS count FROM (${unreadRows('', maxUsageRows + 1)}) AS counted`,
);

/** Counts how often each given API key used the given operations in the last `$days` days. */
export const usageOfOperations = namedStatement(
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

// The migration `usage_partitions` defines the SQL functions `prepare_usage_partitions` and `drop_usage_partitions`.

/**
 * Creates the missing partitions of usage records for today and the next `$days` days. If several processes create
 * partitions at the same time, they wait for each other.
 */
export const preparePartitions = namedStatement(
  'usage-partitions-prepare',
  `
    WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(${advisoryLocks.usagePartitions}))
    SELECT prepare_usage_partitions($days) AS count FROM turn`,
);

/**
 * Drops the partitions of usage records whose time range ended at least `$days` days ago. If another process is already
 * dropping partitions, the SQL statement drops no partition.
 */
export const dropPartitions = namedStatement(
  'usage-partitions-drop',
  `
    WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${advisoryLocks.retention}) AS mine)
    SELECT CASE WHEN mine THEN drop_usage_partitions($days) ELSE 0 END AS count FROM turn`,
);
