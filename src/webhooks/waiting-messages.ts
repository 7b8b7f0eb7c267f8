import type { Logger } from 'pino';
import type { Sql } from '../database/types.ts';
import { createLatestValue, type LatestValue } from '../scheduling/latest-value.ts';
import { countWaiting, type WaitingCount } from './statements.ts';

/**
 * The interval at which the gateway counts the waiting messages of a webhook while a reader watches the webhook, in
 * milliseconds. The gateway gets no notice when the lease of a reader ends, so the gateway must count the messages
 * regularly.
 */
const pollIntervalMs = 1_000;
/**
 * The number of counts without a new message after which the gateway notifies the readers of a webhook again, if
 * messages are still waiting.
 */
const countsUntilReminder = 30;

/** Notifies the readers of pull webhooks when messages wait for a reader. */
export interface WaitingMessages {
  /**
   * Returns an iterator that reports how many messages of a webhook wait for a reader, up to `maxCountedWaiting`. The
   * iterator reports the first number as soon as a message waits for a reader. When new messages wait, or when the
   * lease of a reader ends, the iterator reports the new number of waiting messages. While messages wait, the iterator
   * also reports their number at regular intervals. The iterator ends when the webhook is deleted.
   */
  watch(webhookId: string): AsyncIterableIterator<number>;
}

/** A reader that watches a webhook, and the content of the last notice to the reader. */
interface Watcher {
  numbers: LatestValue<number>;
  lastNotice: { waiting: number; newestMs: number; countsSince: number };
}

/**
 * Creates the object that notifies readers in one process. One query counts the messages of all watched webhooks. The
 * query runs only while a reader watches a webhook.
 */
export function createWaitingMessages({ sql, log }: { sql: Sql; log: Logger }): WaitingMessages {
  const watchers = new Map<string, Set<Watcher>>();
  let timer: NodeJS.Timeout | undefined;
  let isCounting = false;

  /** Notifies a reader when there are new messages, or when messages have waited for a long time. */
  function notify({ numbers, lastNotice }: Watcher, { waiting, newest }: WaitingCount): void {
    const newestMs = newest?.getTime() ?? 0;
    // The time of a message is the time at which the transaction that created the message started. A transaction that
    // started before another transaction can end after the other transaction. A new message can therefore have an
    // earlier time than a message that the last notice to the reader has already counted.
    const isNews = waiting > lastNotice.waiting || newestMs !== lastNotice.newestMs;
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
      const counts = await sql.query<WaitingCount>(countWaiting, countWaiting.values({ ids: asked }));
      const byId = new Map(counts.map((each) => [each.webhookId, each]));
      for (const webhookId of asked) {
        const found = byId.get(webhookId);
        for (const watcher of watchers.get(webhookId) ?? []) {
          if (found) {
            notify(watcher, found);
            continue;
          }
          watcher.numbers.end();
          forget(webhookId, watcher);
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
