import type { Logger } from 'pino';
import type { Sql } from '../database/types.ts';
import { createLatestValue, type LatestValue } from '../scheduling/latest-value.ts';
import { countWaiting, type WaitingCount } from './statements.ts';

/**
 * How often the gateway counts the waiting messages of a webhook that a client watches: the interval in milliseconds.
 * The gateway gets no notice when the lease of a message ends, so it must count the waiting messages regularly.
 */
const pollIntervalMs = 1_000;
/**
 * The gateway counts the waiting webhook messages at regular intervals. After `countsUntilReminder` consecutive counts
 * have found waiting messages but no new message, the gateway notifies the clients of the webhook again.
 */
const countsUntilReminder = 30;

/** Notifies the clients that watch a pull webhook when messages of this webhook wait to be pulled. */
export interface WaitingMessages {
  /**
   * Returns an iterator. Each value of the iterator is the current number of messages of a webhook that wait until a
   * client pulls them. This number is at most `maxCountedWaiting`. The iterator returns its first value as soon as a
   * message waits to be pulled. The iterator returns a new value when a new message waits, or when a client's lease on
   * a message ends without an acknowledgement. While messages wait to be pulled, the iterator also returns their number
   * at regular intervals. The iterator ends when the webhook is deleted.
   */
  watch(webhookId: string): AsyncIterableIterator<number>;
}

/** A client that watches a webhook, and what the gateway reported to this client in the last notice. */
interface Watcher {
  numbers: LatestValue<number>;
  lastNotice: { waiting: number; newestMs: number; countsSince: number };
}

/**
 * Creates the object that notifies the clients of one gateway process about waiting webhook messages. One query counts
 * the waiting messages of all webhooks that clients watch. The query runs only while a client watches a webhook.
 */
export function createWaitingMessages({ sql, log }: { sql: Sql; log: Logger }): WaitingMessages {
  const watchers = new Map<string, Set<Watcher>>();
  let timer: NodeJS.Timeout | undefined;
  let isCounting = false;

  /** Notifies a client when new webhook messages wait, or when webhook messages have waited for a long time. */
  function notify({ numbers, lastNotice }: Watcher, { waiting, newest }: WaitingCount): void {
    const newestMs = newest?.getTime() ?? 0;
    // The time of a webhook message is the time at which the transaction that created the message started. When two
    // transactions run at the same time, the transaction that started first can end last. The time of a new message can
    // therefore be earlier than the times of messages that the gateway has already reported to the client.
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
