import { advisoryLocks } from '../database/advisory-locks.ts';
import { namedStatement, type NamedStatement } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';

// The table of usage records has one partition for each day (UTC). The migration `usage_partitions` defines the SQL
// functions that this file calls. docs/decisions/usage-tables.md gives the reasons.

/**
 * For how many days ahead table partitions are created. If no partitions can be created for longer than this, records
 * go to the default partition.
 */
const daysAhead = 7;

const preparePartitions = namedStatement(
  'usage-partitions-prepare',
  `
    WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(${advisoryLocks.usagePartitions}))
    SELECT prepare_usage_partitions($days) AS count FROM turn`,
);

const dropPartitions = namedStatement(
  'usage-partitions-drop',
  `
    WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${advisoryLocks.retention}) AS mine)
    SELECT CASE WHEN mine THEN drop_usage_partitions($days) ELSE 0 END AS count FROM turn`,
);

async function countOf(sql: Sql, statement: NamedStatement, days: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(statement, statement.values({ days }));
  return row!.count;
}

/**
 * Creates the missing partitions for today and the next days, and returns the number of created partitions. A record
 * whose day has no partition is not lost, because PostgreSQL stores it in the default partition.
 *
 * @throws when the gateway's database role may not create tables, or when the default partition stays locked for 2 s
 */
export const prepareUsagePartitions = (sql: Sql): Promise<number> =>
  countOf(sql, preparePartitions, daysAhead);

/**
 * Drops the partitions whose last record is older than `keptDays` days, and returns the number of dropped partitions.
 * If another process is already dropping partitions, the function drops nothing.
 *
 * @throws when the gateway's database role does not own the tables, or when a query reads them for more than 2 s
 */
export const dropExpiredUsage = (sql: Sql, keptDays: number): Promise<number> =>
  countOf(sql, dropPartitions, keptDays);
