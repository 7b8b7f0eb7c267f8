import { advisoryLocks } from '../database/advisory-locks.ts';
import { namedStatement } from '../database/named-statement.ts';
import { keepAdjustments } from '../parking/occupancy-columns.ts';
import { familyOf, startOf } from '../parking/session-columns.ts';
import { samePlate } from '../whitelist/columns.ts';

// The SQL statements of the retention job, which remove expired records and cancel the pending deliveries of disabled
// webhooks. Each SQL statement in this file changes one batch of rows.

/**
 * The maximum number of rows that one statement removes or cancels. Client requests therefore do not wait long for this
 * statement.
 */
export const maxBatchRows = 1000;

/** SQL for the time `$days` days ago. The retention job removes records that are more than `$days` days old. */
const endOfAge = 'now() - make_interval(days => $days::int)';

/**
 * Returns SQL for the common table expression `turn`, which tries to get the advisory lock of the retention job for a
 * table. The column `mine` of `turn` is true if the SQL statement got the advisory lock. The lock ensures that only one
 * process at a time removes or cancels the expired rows of the table.
 */
const turnFor = (table: string) => `
    turn AS MATERIALIZED (
      SELECT pg_try_advisory_xact_lock(hashtextextended('${table}', ${advisoryLocks.retention})) AS mine
    )`;

/**
 * Returns an SQL statement that removes one batch of rows that are older than `$days` days according to the clock of
 * the database. The result of the SQL statement is the number of removed rows. If another process is removing rows of
 * the same table, the SQL statement removes nothing. The SQL statement skips rows that a client request is deleting at
 * the same time.
 *
 * @param key the names of the primary key columns
 * @param expired an SQL query that returns the primary keys of the expired rows, oldest first
 * @param options.deletedSessions an SQL query that returns the ids of parking sessions. A database trigger deletes
 *   these sessions when the SQL statement removes the rows. The query can read the primary keys of the removed rows
 *   from the common table expression `removed`
 * @param options.locked the alias of `table` in the query `expired`. The SQL statement then locks only rows of `table`.
 *   The option is omitted if `expired` reads no other table
 */
const removal = (
  table: string,
  key: string,
  expired: string,
  { deletedSessions, locked }: { deletedSessions?: string; locked?: string } = {},
) =>
  namedStatement(
    `retention ${table}`,
    `
    WITH ${turnFor(table)},
    removed AS (
      DELETE FROM "${table}"
      WHERE (SELECT mine FROM turn) AND (${key}) IN (${expired} LIMIT ${maxBatchRows} FOR UPDATE ${locked ? `OF ${locked} ` : ''}SKIP LOCKED)
      RETURNING ${key}
    )${deletedSessions ? `, kept AS (${keepAdjustments(deletedSessions)})` : ''}
    SELECT count(*)::int AS count FROM removed`,
  );

/**
 * The SQL condition for parking sessions that have not ended, or that ended at most `$days` days ago. If the database
 * contains no end of a parking session, the session counts as ended when its maximum stay is over.
 */
const endsAfterAge = (session: string) =>
  `coalesce(${session}."endedAt", ${session}."exitedAt", ${session}."staysUntil", 'infinity') >= ${endOfAge}`;

/**
 * Returns an SQL condition that is true if the retention job must keep the parking session with the given id. The
 * retention job keeps open parking sessions, and sessions that ended at most `$days` days ago (`endsAfterAge`). The
 * event or occupancy count that ended such a recent session is also at most `$days` days old. The retention job
 * therefore also keeps this event or count. Without the event or count that ended a session, the gateway would later
 * compute that this session is still open.
 */
const isStillNeeded = (id: string) => `EXISTS (
  SELECT FROM "ParkingSession" s WHERE s.id = ${id} AND ${endsAfterAge('s')})`;

/**
 * Removes expired occupancy counts. The retention job keeps occupancy counts for as many days as parking events. The
 * SQL statement never removes the last occupancy count of a location, because the current occupancy depends on this
 * count.
 */
export const countRemoval = removal(
  'OccupancyCount',
  'id',
  `SELECT k.id FROM "OccupancyCount" k
     WHERE k."countedAt" < ${endOfAge}
       AND EXISTS (SELECT FROM "OccupancyCount" later WHERE later."locationId" = k."locationId"
         AND (later."countedAt", later.kind) > (k."countedAt", k.kind))
       AND NOT EXISTS (SELECT FROM "CountedPlate" p WHERE p."countId" = k.id AND ${isStillNeeded('p.id')})
     ORDER BY k."countedAt", k.id`,
  { deletedSessions: 'SELECT p.id FROM removed r JOIN "CountedPlate" p ON p."countId" = r.id' },
);

/**
 * Removes from expired occupancy counts the plates of vehicles that have left. `countRemoval` keeps an expired
 * occupancy count if it is the last occupancy count of its location. `countRemoval` also keeps an expired occupancy
 * count if a parking session that the count started is still needed (`isStillNeeded`). An expired occupancy count that
 * the retention job keeps can contain plates of vehicles that have left. The retention job may already have removed the
 * exit events of the vehicles that have left. If the retention job kept the plates of vehicles that have left, these
 * vehicles would count as inside when the gateway computes the sessions again. The SQL statement keeps the plate of a
 * vehicle in an occupancy count if the vehicle may have a parking session that is open, or that ended at most `$days`
 * days ago. The parking session may have begun before the occupancy count, and a camera may have misread the plate of
 * the session.
 */
export const plateRemoval = removal(
  'CountedPlate',
  'id',
  `SELECT p.id FROM "CountedPlate" p JOIN "OccupancyCount" k ON k.id = p."countId"
     WHERE k."countedAt" < ${endOfAge}
       AND NOT EXISTS (SELECT FROM "ParkingSession" s
         WHERE s."locationId" = k."locationId" AND ${familyOf('s')} = ${familyOf('p')}
           AND ${startOf('s')} <= k."countedAt" AND ${endsAfterAge('s')}
           AND (s.id = p.id OR ${samePlate('s', 'p')} OR s."plateCode" = ''
             OR EXISTS (SELECT FROM "ParkingEvent" e WHERE e.id = s.id AND e.text IS NOT NULL)))`,
  { deletedSessions: 'SELECT id FROM removed', locked: 'p' },
);

const totalKey = '"apiKeyId", hour, operation, surface, status, "errorCode"';

const changeKey = '"locationId", "changedIn", id';
const endOfChangeAge = `${endOfAge} - interval '1 day'`;

/**
 * Returns SQL that reads at most `count` whitelist changes of a location, oldest first, in the order of their
 * transactions.
 */
const oldestChanges = (locationId: string, count: number) =>
  `SELECT * FROM "WhitelistChange" c WHERE c."locationId" = ${locationId} ORDER BY c."changedIn", c.id LIMIT ${count}`;

/**
 * The SQL statements that remove expired records, with one SQL statement for each retention period in `RetentionDays`.
 */
export const removals = {
  // Most usage records are removed together with the partition of their day. Some expired usage records are in the
  // default partition, or are older than all daily partitions. The SQL statement `usage` removes these records.
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
  // A database trigger deletes a parking session together with the parking event or occupancy count that started the
  // session. The retention job must not delete a session too early. It therefore keeps the event or count that started
  // the session until the session itself may be deleted (`isStillNeeded`).
  events: removal(
    'ParkingEvent',
    'id',
    `SELECT e.id FROM "ParkingEvent" e
     WHERE e."occurredAt" < ${endOfAge} AND NOT ${isStillNeeded('e.id')}
     ORDER BY e."occurredAt", e.id`,
    { deletedSessions: 'SELECT id FROM removed' },
  ),
  deliveries: removal(
    'WebhookDelivery',
    'id',
    `SELECT d.id FROM "WebhookDelivery" d
     WHERE d."createdAt" < ${endOfAge} AND d.status <> 'PENDING' ORDER BY d."createdAt"`,
  ),
  // The gateway keeps whitelist changes for one day longer than a cursor of the whitelist feed is valid. A client with
  // a valid cursor can therefore still read all whitelist changes after the position of this cursor. The table of
  // whitelist changes has no index by time, because such an index would slow down every write to a whitelist. The SQL
  // statement therefore uses the primary key to find the oldest whitelist changes of each location. The primary key of
  // the table `WhitelistChange` begins with the location and the number of the database transaction.
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

/**
 * Cancels one batch of pending deliveries of disabled webhooks, and returns the number of cancelled deliveries. A
 * disabled webhook can still have pending deliveries if the process that disabled the webhook ended before it cancelled
 * all deliveries. A disabled webhook can also have pending deliveries if another transaction added a delivery while the
 * webhook was being disabled. The SQL statement locks the webhooks before it cancels their deliveries, so that no
 * client can enable a webhook while the statement cancels its deliveries. The SQL statement skips webhooks and
 * deliveries that another transaction is changing. Comments in src/webhooks/batch-statements.ts explain why the SQL
 * statement uses a subquery in `LIMIT`, and an array instead of a join.
 */
export const cancelOfDisabledWebhooks = namedStatement(
  'retention cancel deliveries',
  `
    WITH ${turnFor('WebhookDelivery')},
    disabled AS MATERIALIZED (
      SELECT w.id FROM "Webhook" w
      WHERE (SELECT mine FROM turn) AND w."disabledAt" IS NOT NULL AND (
        SELECT true FROM "WebhookDelivery" d WHERE d."webhookId" = w.id AND d.status = 'PENDING'
        ORDER BY d."nextAttemptAt" LIMIT 1)
      FOR NO KEY UPDATE SKIP LOCKED
    ),
    batch AS MATERIALIZED (
      SELECT pending.id FROM disabled CROSS JOIN LATERAL (
        SELECT d.id FROM "WebhookDelivery" d WHERE d."webhookId" = disabled.id AND d.status = 'PENDING'
        ORDER BY d."nextAttemptAt" LIMIT (SELECT ${maxBatchRows}) FOR NO KEY UPDATE SKIP LOCKED
      ) pending
      LIMIT ${maxBatchRows}
    ),
    cancelled AS (
      UPDATE "WebhookDelivery" SET status = 'CANCELLED' WHERE id = ANY (ARRAY(SELECT id FROM batch)) RETURNING 1
    )
    SELECT count(*)::int AS count FROM cancelled`,
);

/** Removes the usage recorders (rows of `"UsageRecorder"`) of processes that have ended. */
export const recorderRemoval = removal(
  'UsageRecorder',
  'id',
  `SELECT r.id FROM "UsageRecorder" r WHERE r."writtenAt" < ${endOfAge} ORDER BY r."writtenAt"`,
);
