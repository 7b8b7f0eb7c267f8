import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { advisoryLocks } from './database/advisory-locks.ts';
import type { Sql, Statement } from './database/types.ts';
import { differenceSince } from './locations/occupancy.ts';
import { endOf, isUncertain } from './parking/session-columns.ts';
import { dropExpiredUsage, prepareUsagePartitions } from './usage/partitions.ts';

/** How many days each kind of record is kept. Audit records are kept for good. */
export interface RetentionDays {
  /** One record for each request; by whole days (UTC). */
  usage: number;
  /** What `usage` tells: requests by hour, key, operation and outcome. */
  usageTotals: number;
  events: number;
  deliveries: number;
  /** Changes of whitelists, for those who keep a copy of one. */
  whitelistChanges: number;
}

/** What went: rows of each kind, and days of usage records that went as a whole. */
type Removed = Record<keyof RetentionDays | 'usageDays' | 'usageRecorders' | 'counts', number>;

/** Removes what is older than it has to be kept, and makes room for the usage records of the days ahead. */
export interface Retention {
  /** Removes all of it now, days of usage records as a whole and the rest in small batches. */
  removeExpired(): Promise<Removed>;
  /** Stops after the batch under way. */
  close(): Promise<void>;
}

const firstCheckDelayMs = 60_000;
const checkIntervalMs = 3_600_000;
/** Rows of one batch: few enough that nobody waits for it. */
const maxBatchRows = 1000;
/** How long others have the database to themselves between two batches. */
const batchPauseMs = 50;

/** A process that wrote no usage for so many days has ended: it sends no batch again. */
const idleRecorderDays = 31;

/** What is older than this is removed. */
const endOfAge = 'now() - make_interval(days => $1::int)';

/**
 * Removes one batch of what is older than `$1` days by the clock of the database, and returns how many rows those were;
 * none while another process is at the same table, which goes on until nothing is left. Rows that a request is removing
 * are left to it.
 *
 * @param key the columns of the primary key
 * @param expired the keys of expired rows, oldest first
 */
const removal = (table: string, key: string, expired: string): Statement => ({
  name: `retention ${table}`,
  text: `
    WITH turn AS MATERIALIZED (
      SELECT pg_try_advisory_xact_lock(hashtextextended('${table}', ${advisoryLocks.retention})) AS mine
    ),
    removed AS (
      DELETE FROM "${table}"
      WHERE (SELECT mine FROM turn) AND (${key}) IN (${expired} LIMIT ${maxBatchRows} FOR UPDATE SKIP LOCKED)
      RETURNING 1
    )
    SELECT count(*)::int AS count FROM removed`,
});

/**
 * The condition that a session that starts with `id` is still needed: it has not ended, unless its longest stay was over
 * long ago, or it ended in time, or a difference has faded by it.
 */
const isStillNeeded = (id: string, locationId: string) => `EXISTS (
  SELECT FROM "ParkingSession" s WHERE s.id = ${id} AND (
    coalesce(s."endedAt", s."exitedAt", s."staysUntil", 'infinity') >= ${endOfAge}
    OR ${isUncertain('s')} AND ${endOf('s')} > ${differenceSince(locationId)}))`;

/** Counts are kept for as long as events; the last one of a location stays, since it says how full the location is. */
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

/** The first so many changes of a location, in the order of its transactions. */
const oldestChanges = (locationId: string, count: number) =>
  `SELECT * FROM "WhitelistChange" c WHERE c."locationId" = ${locationId} ORDER BY c."changedIn", c.id LIMIT ${count}`;

const removals: Record<keyof RetentionDays, Statement> = {
  // What did not go with its day: from before the days had partitions, or from the default partition.
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
  // Sessions go with the event or the count that starts them, which stays for as long as they are needed.
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
  // A day longer than a cursor may be old: nothing goes that is being read.
  // There is no index by time, which every writer would pay for: the oldest changes of a location are the first ones.
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

/** Removes expired records a minute after the start, and every hour from then on. */
export function createRetention(options: { sql: Sql; log: Logger; days: RetentionDays }): Retention {
  const { sql, log, days } = options;
  let closed = false;
  let running: Promise<unknown> = Promise.resolve();

  async function removeOlder(statement: Statement, keptDays: number): Promise<number> {
    let total = 0;
    for (;;) {
      const [batch] = await sql.query<{ count: number }>(statement, [keptDays]);
      total += batch?.count ?? 0;
      if (batch?.count !== maxBatchRows || closed) return total;
      await sleep(batchPauseMs);
    }
  }

  /** Days can be made and dropped another time: what keeps us from it keeps the rest from nothing. */
  async function renewUsageDays(): Promise<number> {
    try {
      await prepareUsagePartitions(sql);
      return await dropExpiredUsage(sql, days.usage);
    } catch (error) {
      log.warn(
        { err: error },
        'the days of usage records could not be made or dropped; the next try is in an hour',
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
          log.warn({ err: error }, 'expired records could not be removed; the next try is in an hour'),
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
