import type { NamedStatement } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import { dropPartitions, preparePartitions } from './statements.ts';

// The table of usage records has one partition for each day (UTC). docs/decisions/usage-tables.md gives the reasons for
// the partitions.

/**
 * The number of future days for which the gateway creates table partitions in advance. If the gateway fails to create
 * partitions for longer than `daysAhead` days, PostgreSQL stores new usage records in the default partition.
 */
const daysAhead = 7;

async function countOf(sql: Sql, statement: NamedStatement, days: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(statement, statement.values({ days }));
  return row!.count;
}

/**
 * Creates the missing partitions for today and the next days, and returns the number of created partitions. If a day
 * has no partition, PostgreSQL stores the usage records of this day in the default partition.
 *
 * @throws when the gateway's database role is not allowed to create tables, or when the default partition stays locked
 *   for 2 s
 */
export const prepareUsagePartitions = (sql: Sql): Promise<number> =>
  countOf(sql, preparePartitions, daysAhead);

/**
 * Drops partitions whose time range ended at least `keptDays` days ago, and returns the number of dropped partitions.
 * If another process is already dropping partitions, this function drops no partition.
 *
 * @throws when the gateway's database role does not own the usage tables, or when another query blocks the removal for
 *   more than 2 s
 */
export const dropExpiredUsage = (sql: Sql, keptDays: number): Promise<number> =>
  countOf(sql, dropPartitions, keptDays);
