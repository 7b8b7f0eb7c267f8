import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { NamedStatement } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import {
  cancelOfDisabledWebhooks,
  countRemoval,
  maxBatchRows,
  plateRemoval,
  recorderRemoval,
  removals,
} from './statements.ts';
import { dropExpiredUsage, prepareUsagePartitions } from '../usage/partitions.ts';

/** The number of days for which each kind of record is kept. Audit records are never removed. */
export interface RetentionDays {
  /**
   * The number of days for which usage records are kept. The gateway writes one usage record for each request, and
   * later removes all usage records of one day (UTC) together.
   */
  usage: number;
  /**
   * The number of days for which the usage totals (`UsageTotal`) are kept. `UsageTotal` contains one total for each
   * combination of hour, API key, operation and outcome.
   */
  usageTotals: number;
  events: number;
  deliveries: number;
  /**
   * The number of days for which whitelist changes are kept. Clients read the whitelist changes to update their copy of
   * a whitelist.
   */
  whitelistChanges: number;
}

/**
 * The number of rows that the retention job removed, for each kind of record. `usageDays` is the number of days whose
 * usage records the job removed.
 */
type Removed = Record<
  keyof RetentionDays | 'usageDays' | 'usageRecorders' | 'counts' | 'countedPlates',
  number
>;

/**
 * The retention job removes expired records, cancels the pending deliveries of disabled webhooks, and creates the table
 * partitions for the usage records of the next days.
 */
export interface Retention {
  /**
   * Removes all expired records now, and cancels the pending deliveries of disabled webhooks. Usage records are removed
   * one whole day at a time, and all other records are removed in small batches. If the retention job cannot remove one
   * kind of records, it still removes the other kinds of records.
   */
  removeExpired(): Promise<Removed>;
  /** Lets the running SQL statement end, and then stops the removal of expired records. */
  close(): Promise<void>;
}

const firstCheckDelayMs = 60_000;
const checkIntervalMs = 3_600_000;
/**
 * The time that the retention job waits after it has removed one batch of expired records, in milliseconds. While the
 * retention job waits, client requests can use the database.
 */
const batchPauseMs = 50;

/**
 * If a process has written no usage record for `idleRecorderDays` days, it has probably ended. The gateway then removes
 * the row of the ended process from the table `UsageRecorder`. A running gateway process uses its row in
 * `UsageRecorder` if it must send its last batch of usage records again.
 */
const idleRecorderDays = 31;

/** Creates the retention job, which removes expired records one minute after the start and then every hour. */
export function createRetention(options: { sql: Sql; log: Logger; days: RetentionDays }): Retention {
  const { sql, log, days } = options;
  let closed = false;
  let running: Promise<unknown> = Promise.resolve();

  /**
   * Runs an SQL statement repeatedly, until one execution changes fewer than `maxBatchRows` rows. Returns the total
   * number of rows that all executions changed. If one execution of the SQL statement fails, the retention job
   * continues with its other SQL statements, and runs the failed statement again after an hour.
   */
  async function runBatches(statement: NamedStatement, parameters: { days?: number } = {}): Promise<number> {
    let total = 0;
    try {
      while (!closed) {
        const [batch] = await sql.query<{ count: number }>(statement, statement.values(parameters));
        total += batch?.count ?? 0;
        if (batch?.count !== maxBatchRows) break;
        await sleep(batchPauseMs);
      }
    } catch (error) {
      log.warn(
        { err: error, statement: statement.name },
        'a statement of the retention job failed; retrying in an hour',
      );
    }
    return total;
  }

  const removeOlder = (statement: NamedStatement, keptDays: number) =>
    runBatches(statement, { days: keptDays });

  /**
   * Creates new partitions for usage records, and drops expired partitions. If the partitions cannot be created or
   * dropped, the gateway still removes all other expired records. The gateway tries again to create and drop partitions
   * every hour.
   */
  async function renewUsageDays(): Promise<number> {
    try {
      await prepareUsagePartitions(sql);
      return closed ? 0 : await dropExpiredUsage(sql, days.usage);
    } catch (error) {
      log.warn(
        { err: error },
        'partitions of usage records could not be created or dropped; retrying in an hour',
      );
      return 0;
    }
  }

  /** Cancels the pending deliveries of disabled webhooks, and then removes expired deliveries. */
  async function removeDeliveries(): Promise<number> {
    const cancelled = await runBatches(cancelOfDisabledWebhooks);
    if (cancelled > 0) log.info({ cancelled }, 'cancelled pending deliveries of disabled webhooks');
    return removeOlder(removals.deliveries, days.deliveries);
  }

  async function removeExpired() {
    const removed = {
      usageDays: await renewUsageDays(),
      usage: await removeOlder(removals.usage, days.usage),
      usageTotals: await removeOlder(removals.usageTotals, days.usageTotals),
      usageRecorders: await removeOlder(recorderRemoval, idleRecorderDays),
      events: await removeOlder(removals.events, days.events),
      counts: await removeOlder(countRemoval, days.events),
      countedPlates: await removeOlder(plateRemoval, days.events),
      deliveries: await removeDeliveries(),
      whitelistChanges: await removeOlder(removals.whitelistChanges, days.whitelistChanges),
    };
    if (Object.values(removed).some(Boolean)) log.info({ removed }, 'removed expired records');
    return removed;
  }

  let timer: NodeJS.Timeout;
  function schedule(delay: number): void {
    timer = setTimeout(() => {
      running = removeExpired().then(() => {
        if (!closed) schedule(checkIntervalMs);
      });
    }, delay);
    timer.unref();
  }
  schedule(firstCheckDelayMs);

  return {
    removeExpired,
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
