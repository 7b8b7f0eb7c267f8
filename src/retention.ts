import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { advisoryLocks } from './database/advisory-locks.ts';
import type { Sql, Statement } from './database/types.ts';

/** How many days each kind of record is kept. Audit records are kept for good. */
export interface RetentionDays {
  usage: number;
  events: number;
  deliveries: number;
  /** Removals of whitelist entries, for those who keep a copy of a whitelist. */
  removals: number;
}

/** Removes what is older than it has to be kept. */
export interface Retention {
  /** Removes all of it now, in small batches, and returns how much went. */
  removeExpired(): Promise<Record<keyof RetentionDays, number>>;
  /** Stops after the batch under way. */
  close(): Promise<void>;
}

const firstCheckDelayMs = 60_000;
const checkIntervalMs = 3_600_000;
/** Rows of one batch: few enough that nobody waits for it. */
const maxBatchRows = 1000;
/** How long others have the database to themselves between two batches. */
const batchPauseMs = 50;

/** What is older than this is removed. */
const endOfAge = 'now() - make_interval(days => $1::int)';

/**
 * Removes one batch of what is older than `$1` days by the clock of the database, at most `$2` rows, and returns how
 * many rows those were; none while another process is at it. Rows that a request is removing are left to it.
 *
 * @param expired the ids of expired rows, oldest first
 */
const removal = (table: string, expired: string): Statement => ({
  name: `retention ${table}`,
  text: `
    WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${advisoryLocks.retention}) AS mine),
    removed AS (
      DELETE FROM "${table}" WHERE (SELECT mine FROM turn) AND id IN (${expired} LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1
    )
    SELECT count(*)::int AS count FROM removed`,
});

const removals: Record<keyof RetentionDays, Statement> = {
  usage: removal(
    'UsageRecord',
    `SELECT u.id FROM "UsageRecord" u WHERE u."createdAt" < ${endOfAge} ORDER BY u."createdAt"`,
  ),
  // Sessions go with the event that starts them, which stays for as long as the session is in time.
  events: removal(
    'ParkingEvent',
    `SELECT e.id FROM "ParkingEvent" e
     WHERE e."occurredAt" < ${endOfAge} AND NOT EXISTS (
       SELECT FROM "ParkingSession" s WHERE s.id = e.id AND (s.open OR s."exitedAt" >= ${endOfAge}))
     ORDER BY e."occurredAt", e.id`,
  ),
  deliveries: removal(
    'WebhookDelivery',
    `SELECT d.id FROM "WebhookDelivery" d
     WHERE d."createdAt" < ${endOfAge} AND d.status <> 'PENDING' ORDER BY d."createdAt"`,
  ),
  // A day longer than a cursor may be old: a client that began to read in time reads to the end.
  removals: removal(
    'WhitelistRemoval',
    `SELECT r.id FROM "WhitelistRemoval" r
     WHERE r."removedAt" < ${endOfAge} - interval '1 day' ORDER BY r."removedAt"`,
  ),
};

/** Removes expired records a minute after the start, and every hour from then on. */
export function createRetention(options: { sql: Sql; log: Logger; days: RetentionDays }): Retention {
  const { sql, log, days } = options;
  let closed = false;
  let running: Promise<unknown> = Promise.resolve();

  async function removeKind(kind: keyof RetentionDays): Promise<number> {
    let total = 0;
    for (;;) {
      const [batch] = await sql.query<{ count: number }>(removals[kind], [days[kind], maxBatchRows]);
      total += batch?.count ?? 0;
      if (batch?.count !== maxBatchRows || closed) return total;
      await sleep(batchPauseMs);
    }
  }

  async function removeExpired() {
    const removed = {
      usage: await removeKind('usage'),
      events: await removeKind('events'),
      deliveries: await removeKind('deliveries'),
      removals: await removeKind('removals'),
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
