import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { advisoryLocks } from './database/advisory-locks.ts';
import { namedStatement, type NamedStatement } from './database/named-statement.ts';
import type { Sql } from './database/types.ts';
import { differenceSince } from './parking/occupancy.ts';
import { endOf, isUncertain } from './parking/session-columns.ts';
import { dropExpiredUsage, prepareUsagePartitions } from './usage/partitions.ts';

/** For how many days each kind of record is kept. Audit records are never removed. */
export interface RetentionDays {
  /**
   * How long usage records are kept. The gateway writes one usage record for each request and removes the records of a
   * whole day (UTC) together.
   */
  usage: number;
  /** How long the totals of usage are kept. There is a total for each hour, API key, operation and outcome. */
  usageTotals: number;
  events: number;
  deliveries: number;
  /** How long whitelist changes are kept. Clients that keep a copy of a whitelist read these changes. */
  whitelistChanges: number;
}

/** The number of removed rows of each kind, and the number of days whose usage records were removed. */
type Removed = Record<keyof RetentionDays | 'usageDays' | 'usageRecorders' | 'counts', number>;

/** Removes expired records, and creates the table partitions for the usage records of the coming days. */
export interface Retention {
  /** Removes all expired records now. Usage records are removed in whole days, and other records in small batches. */
  removeExpired(): Promise<Removed>;
  /** Stops the removal of records after the current batch. */
  close(): Promise<void>;
}

const firstCheckDelayMs = 60_000;
const checkIntervalMs = 3_600_000;
/**
 * The maximum number of rows that one statement removes. The number is small, so that client requests do not have to
 * wait.
 */
const maxBatchRows = 1000;
/** The pause between two batches in milliseconds, so that client requests can use the database. */
const batchPauseMs = 50;

/**
 * A process that has written no usage records for this many days has certainly ended and will not send a batch again.
 */
const idleRecorderDays = 31;

/** SQL for the time before which records have expired. */
const endOfAge = 'now() - make_interval(days => $days::int)';

/**
 * Returns a statement that removes one batch of rows older than `$days` days by the database clock, and returns the
 * number of removed rows. If another process is removing rows of the same table, the statement removes nothing. Rows
 * that a request is deleting are skipped.
 *
 * @param key the columns of the primary key
 * @param expired a query for the keys of expired rows, oldest first
 */
const removal = (table: string, key: string, expired: string) =>
  namedStatement(
    `retention ${table}`,
    `
    WITH turn AS MATERIALIZED (
      SELECT pg_try_advisory_xact_lock(hashtextextended('${table}', ${advisoryLocks.retention})) AS mine
    ),
    removed AS (
      DELETE FROM "${table}"
      WHERE (SELECT mine FROM turn) AND (${key}) IN (${expired} LIMIT ${maxBatchRows} FOR UPDATE SKIP LOCKED)
      RETURNING 1
    )
    SELECT count(*)::int AS count FROM removed`,
  );

/**
 * The SQL condition that the session `id` is still needed. A session is needed in two cases:
 *
 * - the session is open, or it ended (or its maximum stay was over) within the last `$days` days;
 * - the current occupancy adjustment of the location depends on the session.
 */
const isStillNeeded = (id: string, locationId: string) => `EXISTS (
  SELECT FROM "ParkingSession" s WHERE s.id = ${id} AND (
    coalesce(s."endedAt", s."exitedAt", s."staysUntil", 'infinity') >= ${endOfAge}
    OR ${isUncertain('s')} AND ${endOf('s')} > ${differenceSince(locationId)}))`;

/**
 * Removes expired counts of vehicles. Counts are kept as long as events. The last count of a location is never removed,
 * because the occupancy depends on it.
 */
const countRemoval = removal(
  'OccupancyCount',
  'id',
  `SELECT k.id FROM "OccupancyCount" k
     WHERE k."countedAt" < ${endOfAge}
       AND EXISTS (SELECT FROM "OccupancyCount" later WHERE later."locationId" = k."locationId"
         AND (later."countedAt", later.kind) > (k."countedAt", k.kind))
       AND NOT EXISTS (SELECT FROM "CountedPlate" p WHERE p."countId" = k.id AND ${isStillNeeded('p.id', 'k."locationId"')})
     ORDER BY k."countedAt", k.id`,
);

const totalKey = '"apiKeyId", hour, operation, surface, status, "errorCode"';

const changeKey = '"locationId", "changedIn", id';
const endOfChangeAge = `${endOfAge} - interval '1 day'`;

/** Returns SQL for the oldest `count` whitelist changes of a location, in the order of their transactions. */
const oldestChanges = (locationId: string, count: number) =>
  `SELECT * FROM "WhitelistChange" c WHERE c."locationId" = ${locationId} ORDER BY c."changedIn", c.id LIMIT ${count}`;

const removals: Record<keyof RetentionDays, NamedStatement> = {
  // Most usage records are removed with the partition of their day. This statement removes the remaining records, which
  // are in the default partition or older than all partitions.
  usage: removal(
    'UsageRecord',
    '"createdAt", id',
    `SELECT u."createdAt", u.id FROM "UsageRecord" u
     WHERE u."createdAt" < date_trunc('day', ${endOfAge}, 'UTC') ORDER BY u."createdAt"`,
  ),
  usageTotals: removal(
    'UsageTotal',
    totalKey,
    `SELECT ${totalKey} FROM "UsageTotal" WHERE hour < ${endOfAge} ORDER BY hour`,
  ),
  // Deleting an event or a count also deletes its session. The events and counts of a session that is still needed are
  // therefore kept.
  events: removal(
    'ParkingEvent',
    'id',
    `SELECT e.id FROM "ParkingEvent" e
     WHERE e."occurredAt" < ${endOfAge} AND NOT ${isStillNeeded('e.id', 'e."locationId"')}
     ORDER BY e."occurredAt", e.id`,
  ),
  deliveries: removal(
    'WebhookDelivery',
    'id',
    `SELECT d.id FROM "WebhookDelivery" d
     WHERE d."createdAt" < ${endOfAge} AND d.status <> 'PENDING' ORDER BY d."createdAt"`,
  ),
  // Whitelist changes are kept one day longer than a feed cursor is valid, so that no change is removed while a client
  // reads it. The statement reads the first changes of each location, which are the oldest. There is no index by time,
  // because it would slow down every whitelist write.
  whitelistChanges: removal(
    'WhitelistChange',
    changeKey,
    `SELECT ${changeKey} FROM "WhitelistChange" WHERE (${changeKey}) IN (
       SELECT o."locationId", o."changedIn", o.id FROM "Location" l
       CROSS JOIN LATERAL (${oldestChanges('l.id', maxBatchRows)}) o
       WHERE (SELECT f."changedAt" FROM (${oldestChanges('l.id', 1)}) f) < ${endOfChangeAge}
         AND o."changedAt" < ${endOfChangeAge}
       LIMIT ${maxBatchRows})`,
  ),
};

const recorderRemoval = removal(
  'UsageRecorder',
  'id',
  `SELECT r.id FROM "UsageRecorder" r WHERE r."writtenAt" < ${endOfAge} ORDER BY r."writtenAt"`,
);

/** Creates the retention. It removes expired records one minute after the start and then every hour. */
export function createRetention(options: { sql: Sql; log: Logger; days: RetentionDays }): Retention {
  const { sql, log, days } = options;
  let closed = false;
  let running: Promise<unknown> = Promise.resolve();

  async function removeOlder(statement: NamedStatement, keptDays: number): Promise<number> {
    let total = 0;
    for (;;) {
      const [batch] = await sql.query<{ count: number }>(statement, statement.values({ days: keptDays }));
      total += batch?.count ?? 0;
      if (batch?.count !== maxBatchRows || closed) return total;
      await sleep(batchPauseMs);
    }
  }

  /**
   * Creates and drops the partitions for usage records. If this fails, all other expired records are still removed. The
   * next attempt follows an hour later.
   */
  async function renewUsageDays(): Promise<number> {
    try {
      await prepareUsagePartitions(sql);
      return await dropExpiredUsage(sql, days.usage);
    } catch (error) {
      log.warn(
        { err: error },
        'partitions of usage records could not be created or dropped; retrying in an hour',
      );
      return 0;
    }
  }

  async function removeExpired() {
    const removed = {
      usageDays: await renewUsageDays(),
      usage: await removeOlder(removals.usage, days.usage),
      usageTotals: await removeOlder(removals.usageTotals, days.usageTotals),
      usageRecorders: await removeOlder(recorderRemoval, idleRecorderDays),
      events: await removeOlder(removals.events, days.events),
      counts: await removeOlder(countRemoval, days.events),
      deliveries: await removeOlder(removals.deliveries, days.deliveries),
      whitelistChanges: await removeOlder(removals.whitelistChanges, days.whitelistChanges),
    };
    if (Object.values(removed).some(Boolean)) log.info({ removed }, 'removed expired records');
    return removed;
  }

  let timer: NodeJS.Timeout;
  function schedule(delay: number): void {
    timer = setTimeout(() => {
      running = removeExpired()
        .catch((error: unknown) =>
          log.warn({ err: error }, 'expired records could not be removed; retrying in an hour'),
        )
        .then(() => {
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
