import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { advisoryLocks } from './database/advisory-locks.ts';
import { namedStatement, type NamedStatement } from './database/named-statement.ts';
import type { Sql } from './database/types.ts';
import { differenceSince } from './parking/occupancy.ts';
import { endOf, isUncertain } from './parking/session-columns.ts';
import { dropExpiredUsage, prepareUsagePartitions } from './usage/partitions.ts';

/** How many days each kind of record is kept. Audit records are never removed. */
export interface RetentionDays {
  /** How long usage records are kept, one record for each request. Usage records are removed by whole days (UTC). */
  usage: number;
  /** How long the totals of usage are kept: requests by hour, key, operation and outcome. */
  usageTotals: number;
  events: number;
  deliveries: number;
  /** How long the changes of whitelists are kept, for clients that keep a copy of a whitelist. */
  whitelistChanges: number;
}

/** The number of removed rows of each kind, and the number of usage days that were dropped as a whole. */
type Removed = Record<keyof RetentionDays | 'usageDays' | 'usageRecorders' | 'counts', number>;

/** Removes expired records, and prepares the partitions for the usage records of the coming days. */
export interface Retention {
  /** Removes all expired records now. Usage records are removed by whole days, other records in small batches. */
  removeExpired(): Promise<Removed>;
  /** Stops the removal after the current batch. */
  close(): Promise<void>;
}

const firstCheckDelayMs = 60_000;
const checkIntervalMs = 3_600_000;
/** The maximum number of rows in a batch. The number is small, so that requests do not have to wait. */
const maxBatchRows = 1000;
/** The pause between two batches, so that requests can use the database. */
const batchPauseMs = 50;

/** After this many days without usage records, a process has certainly ended and will not send a batch again. */
const idleRecorderDays = 31;

/** SQL for the time before which records are expired. */
const endOfAge = 'now() - make_interval(days => $days::int)';

/**
 * Returns a statement that removes one batch of rows older than `$days` days by the database clock, and that counts the
 * removed rows. The statement removes nothing while another process removes rows of the same table, because that
 * process continues until no expired row is left. The statement skips rows that a request is deleting.
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
 * The condition that the session with the id `id` is still needed:
 * - it is open, or it ended (or its longest stay was over) within the last `$days` days,
 * - or the current occupancy adjustment of the location depends on it.
 */
const isStillNeeded = (id: string, locationId: string) => `EXISTS (
  SELECT FROM "ParkingSession" s WHERE s.id = ${id} AND (
    coalesce(s."endedAt", s."exitedAt", s."staysUntil", 'infinity') >= ${endOfAge}
    OR ${isUncertain('s')} AND ${endOf('s')} > ${differenceSince(locationId)}))`;

/**
 * Counts are kept as long as events. The last count of a location is never removed, because the occupancy depends on
 * this count.
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

/** Returns SQL for the oldest `count` changes of a location, in the order of their transactions. */
const oldestChanges = (locationId: string, count: number) =>
  `SELECT * FROM "WhitelistChange" c WHERE c."locationId" = ${locationId} ORDER BY c."changedIn", c.id LIMIT ${count}`;

const removals: Record<keyof RetentionDays, NamedStatement> = {
  // The usage rows that were not dropped with the partition of a day: rows older than the partitions, and rows of the
  // default partition.
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
  // When an event or count is deleted, its session is deleted, too. Events and counts of a session that is still needed
  // are therefore kept.
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
  // Changes are kept one day longer than a cursor is valid, so that no change is removed while a client reads it. The
  // statement starts from the first changes of each location, which are the oldest. It uses no index by time, because
  // such an index would slow down every write.
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

/** Creates the retention, which removes expired records one minute after the start and then every hour. */
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
   * Creates and drops usage partitions. A failure here must not stop the other removals. The next attempt follows an
   * hour later.
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
