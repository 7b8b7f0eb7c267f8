import { advisoryLocks } from '../database/advisory-locks.ts';
import type { Sql, Statement } from '../database/types.ts';

// The table of usage records has a partition for each day (UTC). The functions are those of the migration
// `usage_partitions`; docs/decisions/usage-tables.md says why.

/** How many days ahead have a partition: as long as making them may fail before records go to the default one. */
const daysAhead = 7;

const preparePartitions: Statement = {
  name: 'usage-partitions-prepare',
  text: `
    WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(${advisoryLocks.usagePartitions}))
    SELECT prepare_usage_partitions($1) AS count FROM turn`,
};

const dropPartitions: Statement = {
  name: 'usage-partitions-drop',
  text: `
    WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${advisoryLocks.retention}) AS mine)
    SELECT CASE WHEN mine THEN drop_usage_partitions($1) ELSE 0 END AS count FROM turn`,
};

async function countOf(sql: Sql, statement: Statement, days: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(statement, [days]);
  return row!.count;
}

/**
 * Makes the partitions of today and the next days that are missing, and returns how many. Without them records go to
 * the default partition, so that none is lost.
 *
 * @throws when the role of the gateway may not create tables, or when somebody locks the default partition for 2 s
 */
export const prepareUsagePartitions = (sql: Sql): Promise<number> =>
  countOf(sql, preparePartitions, daysAhead);

/**
 * Drops the days whose last record is older than `keptDays`, and returns how many; none while another process is at
 * it.
 *
 * @throws when the role of the gateway does not own the tables, or when somebody reads them for more than 2 s
 */
export const dropExpiredUsage = (sql: Sql, keptDays: number): Promise<number> =>
  countOf(sql, dropPartitions, keptDays);
