import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Sql, Statement } from './db.ts';

/** How many days each kind of record is kept. Audit records are kept for good. */
export interface RetentionDays {
  usage: number;
  events: number;
  deliveries: number;
}

/** Removes what is older than it has to be kept. */
export interface Retention {
  /** Removes all of it now, in small batches, and returns how much went. */
  removeExpired(): Promise<Record<keyof RetentionDays, number>>;
  /** Stops after the batch under way. */
  close(): Promise<void>;
}

const firstCheckAfter = 60_000;
const checkedEvery = 3_600_000;
/** Rows of one batch: few enough that nobody waits for it. */
const batchSize = 1000;
/** How long others have the database to themselves between two batches, in milliseconds. */
const pause = 50;
const day = 86_400_000;

/** One process at a time removes, and the others need not. Any number of our own. */
const removalLock = 7_205_759_404;

/**
 * Removes one batch of what is older than `$1`, at most `$2` rows, and returns how many rows those were; none
 * while another process is at it.
 *
 * @param expired the ids of expired rows, oldest first
 */
const removal = (table: string, expired: string): Statement => ({
  name: `retention ${table}`,
  text: `
    WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${removalLock}) AS mine),
    removed AS (
      DELETE FROM "${table}" WHERE (SELECT mine FROM turn) AND id IN (${expired} LIMIT $2) RETURNING 1
    )
    SELECT count(*)::int AS count FROM removed`,
});

const removals: Record<keyof RetentionDays, Statement> = {
  usage: removal(
    'UsageRecord',
    'SELECT u.id FROM "UsageRecord" u WHERE u."createdAt" < $1::timestamptz ORDER BY u."createdAt"',
  ),
  // Sessions go with the event that starts them, which stays for as long as the session is in time.
  events: removal(
    'ParkingEvent',
    `SELECT e.id FROM "ParkingEvent" e
     WHERE e."occurredAt" < $1::timestamptz AND NOT EXISTS (
       SELECT FROM "ParkingSession" s WHERE s.id = e.id AND (s.open OR s."exitedAt" >= $1::timestamptz))
     ORDER BY e."occurredAt", e.id`,
  ),
  deliveries: removal(
    'WebhookDelivery',
    `SELECT d.id FROM "WebhookDelivery" d
     WHERE d."createdAt" < $1::timestamptz AND d.status <> 'PENDING' ORDER BY d."createdAt"`,
  ),
};

/** Removes expired records a minute after the start, and every hour from then on. */
export function createRetention(options: { sql: Sql; log: Logger; days: RetentionDays }): Retention {
  const { sql, log, days } = options;
  let closed = false;
  let running: Promise<unknown> = Promise.resolve();

  async function removeKind(kind: keyof RetentionDays): Promise<number> {
    const before = new Date(Date.now() - days[kind] * day).toISOString();
    let total = 0;
    for (;;) {
      const [batch] = await sql.query<{ count: number }>(removals[kind], [before, batchSize]);
      total += batch?.count ?? 0;
      if (batch?.count !== batchSize || closed) return total;
      await sleep(pause);
    }
  }

  async function removeExpired() {
    const removed = {
      usage: await removeKind('usage'),
      events: await removeKind('events'),
      deliveries: await removeKind('deliveries'),
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
          if (!closed) schedule(checkedEvery);
        });
    }, delay);
    timer.unref();
  }
  schedule(firstCheckAfter);

  return {
    removeExpired,
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
