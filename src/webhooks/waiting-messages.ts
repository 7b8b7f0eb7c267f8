import type { Logger } from 'pino';
import { namedStatement } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import { createLatestValue, type LatestValue } from '../scheduling/latest-value.ts';

/**
 * The SQL condition that a reader can pull the message of a `"WebhookDelivery"` row. No reader holds a lease on the
 * message, and the message has not expired.
 */
export const isWaiting = (alias: string) =>
  `${alias}.status = 'PENDING' AND ${alias}."nextAttemptAt" <= now() AND ${alias}."retryUntil" > now()`;

/**
 * The maximum number of waiting messages that are counted for one webhook. Counting more messages would burden the
 * database.
 */
export const maxCountedWaiting = 1000;

/**
 * How often the waiting messages of watched webhooks are counted, in milliseconds. The counting is repeated because the
 * end of a lease sends no notice.
 */
const pollIntervalMs = 1_000;
/** The number of counts without new messages after which a watching reader is notified again. */
const countsUntilReminder = 30;

/** The number of messages of one webhook that wait for a reader. */
interface WaitingCount {
  webhookId: string;
  waiting: number;
  /** The time at which the most recent waiting message began to wait; null when no message waits. */
  newest: Date | null;
}

/**
 * Counts the waiting messages of several webhooks. If a webhook has too many messages, only the newest messages are
 * counted. A disabled webhook has no waiting messages, and a deleted webhook has no row in the result.
 */
const countStatement = namedStatement(
  'webhook-count-waiting',
  `
    SELECT w.id AS "webhookId", counted.waiting, counted.newest
    FROM "Webhook" w CROSS JOIN LATERAL (
      SELECT count(*)::int AS waiting, max(newest."nextAttemptAt") AS newest FROM (
        SELECT d."nextAttemptAt" FROM "WebhookDelivery" d
        WHERE d."webhookId" = w.id AND w."disabledAt" IS NULL AND ${isWaiting('d')}
        ORDER BY d."nextAttemptAt" DESC LIMIT ${maxCountedWaiting}
      ) newest
    ) counted
    WHERE w.id = ANY ($ids::text[])`,
);

/** Notifies readers of webhooks when messages wait for them. */
export interface WaitingMessages {
  /**
   * Yields the number of waiting messages of a webhook, at most `maxCountedWaiting`. The first number comes as soon as
   * a message waits. A further number comes when messages arrive or the lease of a reader ends. While messages keep
   * waiting, the number is repeated from time to time. The iteration ends when the webhook is deleted.
   */
  watch(webhookId: string): AsyncIterableIterator<number>;
}

/** A reader that watches a webhook, and the last number of messages of which the reader was notified. */
interface Watcher {
  numbers: LatestValue<number>;
  lastNotice: { waiting: number; newestMs: number; countsSince: number };
}

/**
 * Creates the object that notifies readers in one process. One query counts the messages of all watched webhooks. While
 * no reader watches, there are no queries.
 */
export function createWaitingMessages({ sql, log }: { sql: Sql; log: Logger }): WaitingMessages {
  const watchers = new Map<string, Set<Watcher>>();
  let timer: NodeJS.Timeout | undefined;
  let isCounting = false;

  /** Notifies a reader when there are new messages, or when messages have waited for a long time. */
  function notify({ numbers, lastNotice }: Watcher, { waiting, newest }: WaitingCount): void {
    const newestMs = newest?.getTime() ?? 0;
    const isNews = waiting > lastNotice.waiting || newestMs > lastNotice.newestMs;
    lastNotice.countsSince += 1;
    lastNotice.waiting = waiting;
    if (waiting === 0 || !(isNews || lastNotice.countsSince >= countsUntilReminder)) return;
    lastNotice.newestMs = newestMs;
    lastNotice.countsSince = 0;
    numbers.push(waiting);
  }

  async function count(): Promise<void> {
    if (isCounting) return;
    isCounting = true;
    try {
      const asked = [...watchers.keys()];
      const counts = await sql.query<WaitingCount>(countStatement, countStatement.values({ ids: asked }));
      const byId = new Map(counts.map((each) => [each.webhookId, each]));
      for (const webhookId of asked) {
        const found = byId.get(webhookId);
        for (const watcher of watchers.get(webhookId) ?? []) {
          if (found) notify(watcher, found);
          else watcher.numbers.end();
        }
      }
    } catch (error) {
      log.warn({ err: error }, 'The waiting messages of webhooks could not be counted; retrying in 1 s');
    } finally {
      isCounting = false;
    }
  }

  function forget(webhookId: string, watcher: Watcher): void {
    const others = watchers.get(webhookId);
    others?.delete(watcher);
    if (others?.size === 0) watchers.delete(webhookId);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    watch(webhookId) {
      const watcher: Watcher = {
        numbers: createLatestValue<number>(() => forget(webhookId, watcher)),
        lastNotice: { waiting: 0, newestMs: 0, countsSince: 0 },
      };
      watchers.set(webhookId, (watchers.get(webhookId) ?? new Set()).add(watcher));
      timer ??= setInterval(() => void count(), pollIntervalMs).unref();
      void count();
      return watcher.numbers.values;
    },
  };
}
