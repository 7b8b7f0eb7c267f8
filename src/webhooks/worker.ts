import type { Logger } from 'pino';
import type { Prisma, PrismaClient } from '../prisma/generated/client/client.ts';
import { recordChange } from './audit.ts';
import type { Sql } from './db.ts';
import { newId } from './ids.ts';
import { webhookBody } from './webhook-message.ts';
import { type Delivery, disableWebhook, takeDue, triedFor } from './webhook-outbox.ts';
import { signedHeaders, type WebhookSecretBox } from './webhook-secret.ts';
import type { WebhookTarget } from './webhook-target.ts';

/** Delivers what waits in the outbox. */
export interface WebhookWorker {
  /** Stops: what is under way is broken off, and sent again by another process or after the next start. */
  close(): Promise<void>;
}

/** How often the outbox is looked at, in milliseconds. */
const checkedEvery = 1_000;
/** The whole attempt, name to answer, in milliseconds. */
const longestAttempt = 15_000;
const mostInFlight = 200;

/** The shortest pause, and the longest, in milliseconds. */
const shortestPause = 10_000;
const longestPause = 6 * 3_600_000;

/**
 * The pause after a failed attempt: twice as long as the delivery has been tried, half of it to one and a half
 * by chance.
 *
 * @param triedSince how long it has been tried, in milliseconds
 */
export function pauseAfter(triedSince: number): number {
  const pause = Math.min(Math.max(2 * triedSince, shortestPause), longestPause);
  return pause * (0.5 + Math.random());
}

/** What came of an attempt. */
interface Outcome {
  httpStatus: number | null;
  error: string | null;
  durationMs: number;
}

const succeeded = ({ httpStatus }: Outcome) => httpStatus !== null && httpStatus >= 200 && httpStatus < 300;

/** The status of a receiver that wants no more (Standard Webhooks, "Responses"). */
const gone = 410;

/** Delivers from every process: workers share the outbox, and each delivery is one worker's at a time. */
export function createWebhookWorker(options: {
  prisma: PrismaClient;
  sql: Sql;
  log: Logger;
  target: WebhookTarget;
  secrets: WebhookSecretBox;
}): WebhookWorker {
  const { prisma, sql, log, target, secrets } = options;
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  /** The webhooks of the deliveries under way. */
  const inFlight = new Map<string, string>();
  let isTaking = false;

  async function attempt({ id, type, webhook, event }: Delivery): Promise<Outcome> {
    const startedAt = performance.now();
    const durationMs = () => Math.round(performance.now() - startedAt);
    const late = AbortSignal.timeout(longestAttempt);
    try {
      const now = new Date();
      const { formerSecret, formerSecretEndsAt } = webhook;
      const former = formerSecret && formerSecretEndsAt && formerSecretEndsAt > now ? [formerSecret] : [];
      const signing = [webhook.secret, ...former].map((sealed) => secrets.open(webhook.id, sealed));
      const body = webhookBody(type, event);
      const headers = {
        'Content-Type': 'application/json',
        'User-Agent': 'parking-gateway',
        ...signedHeaders({ id, body }, signing, now),
      };
      const signal = AbortSignal.any([closing.signal, late]);
      const httpStatus = await target.post(webhook.url, { headers, body }, signal);
      return { httpStatus, error: null, durationMs: durationMs() };
    } catch (cause) {
      const error = late.aborted
        ? `No answer within ${longestAttempt / 1000} seconds`
        : (cause as Error).message;
      return { httpStatus: null, error, durationMs: durationMs() };
    }
  }

  /** Writes down what came of an attempt, and what follows. */
  async function settle({ id, webhookId, retryUntil, event }: Delivery, outcome: Outcome): Promise<void> {
    const now = Date.now();
    const nextAttemptAt = new Date(now + pauseAfter(now - (retryUntil.getTime() - triedFor)));
    const isGone = outcome.httpStatus === gone;
    let change: Prisma.WebhookDeliveryUpdateManyMutationInput = { nextAttemptAt };
    if (succeeded(outcome)) change = { status: 'DELIVERED' };
    else if (isGone || nextAttemptAt > retryUntil) change = { status: 'FAILED' };
    await prisma.$transaction(async (transaction) => {
      // The webhook before its deliveries, so that several such answers at once follow each other.
      if (isGone && (await disableWebhook(transaction, webhookId))) {
        await recordChange(
          transaction,
          { key: null, requestId: id },
          {
            action: 'webhook.disabled',
            targetId: webhookId,
            companyId: event.companyId,
            changes: { httpStatus: gone },
          },
        );
      }
      await transaction.webhookAttempt.create({ data: { id: newId(), deliveryId: id, ...outcome } });
      await transaction.webhookDelivery.updateMany({
        where: isGone ? { id } : { id, status: 'PENDING' },
        data: change,
      });
    });
  }

  async function deliver(delivery: Delivery): Promise<void> {
    const { id, webhookId } = delivery;
    inFlight.set(id, webhookId);
    try {
      const outcome = await attempt(delivery);
      if (closing.signal.aborted && !succeeded(outcome)) {
        const where = { id, status: 'PENDING' } as const;
        await prisma.webhookDelivery.updateMany({ where, data: { nextAttemptAt: new Date() } });
        return;
      }
      if (!succeeded(outcome))
        log.info({ deliveryId: id, webhookId, ...outcome }, 'a webhook did not take a delivery');
      await settle(delivery, outcome);
    } catch (error) {
      log.warn(
        { err: error, deliveryId: id },
        'what came of a delivery was not written down; it is sent again',
      );
    } finally {
      inFlight.delete(id);
    }
  }

  /** Takes some of what is due, sends it, and returns how much that was. */
  async function deliverDue(): Promise<number> {
    const free = mostInFlight - inFlight.size;
    if (free <= 0 || isTaking || closing.signal.aborted) return 0;
    isTaking = true;
    const exceptOf = [...new Set(inFlight.values())];
    const deliveries = await takeDue({ prisma, sql }, { exceptOf, limit: free }).finally(
      () => (isTaking = false),
    );
    await Promise.all(deliveries.map(deliver));
    return deliveries.length;
  }

  /** Delivers as long as there is something to deliver. */
  async function deliverAll(): Promise<void> {
    try {
      while ((await deliverDue()) > 0);
    } catch (error) {
      log.warn({ err: error }, 'the outbox of the webhooks could not be read');
    }
  }

  const timer = setInterval(() => {
    const run = deliverAll().finally(() => running.delete(run));
    running.add(run);
  }, checkedEvery);
  timer.unref();

  return {
    async close() {
      clearInterval(timer);
      closing.abort();
      await Promise.all(running);
    },
  };
}
