import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import { recordChange } from '../audit/record.ts';
import { databaseNow } from '../database/clock.ts';
import type { Transaction } from '../database/types.ts';
import { newId } from '../ids.ts';
import { type ClaimedDelivery, disableWebhook, retryForMs } from './outbox.ts';

/**
 * The result of one attempt to deliver a message: the HTTP status of the response, or an error. When a reader
 * acknowledges a pulled message, both are null.
 */
export interface AttemptResult {
  httpStatus: number | null;
  error: string | null;
  durationMs: number;
}

/** The state of a delivery after an attempt: delivered, to be retried, or failed. */
export type AttemptOutcome = 'delivered' | 'retry' | 'failed';

/**
 * Whether the receiver accepted the message, according to the status of its response (Standard Webhooks, "Responses").
 */
export const isAccepted = ({ httpStatus }: AttemptResult) =>
  httpStatus !== null && httpStatus >= 200 && httpStatus < 300;

/** The HTTP status with which a receiver asks for no further messages (Standard Webhooks, "Responses"). */
const goneStatus = 410;

/** If a receiver has accepted no message for this many days, its webhook is disabled. */
export const disableAfterFailingDays = 5;
const disableAfterFailingMs = disableAfterFailingDays * 86_400_000;

/**
 * The largest duration that the database column can hold, in milliseconds. The limit is needed because a reader can
 * acknowledge a message weeks after its lease started.
 */
const maxDurationMs = 2 ** 31 - 1;

const minRetryDelayMs = 10_000;
const maxRetryDelayMs = 6 * 3_600_000;

/**
 * Returns the pause between a failed attempt and the next attempt, in milliseconds. The pause is twice the time since
 * the first attempt, but at least 10 seconds and at most 6 hours. It is then multiplied by a random factor from 0.5 to
 * 1.5, which spreads the deliveries.
 *
 * @param triedForMs the time since the first attempt
 */
export function retryDelayMs(triedForMs: number): number {
  const delayMs = Math.min(Math.max(2 * triedForMs, minRetryDelayMs), maxRetryDelayMs);
  return delayMs * (0.5 + Math.random());
}

/**
 * Stores that the receiver accepted messages of one webhook. If a client has deleted the webhook in the meantime, its
 * deliveries no longer exist and are skipped.
 *
 * @param endOfLeases the time at which the reader's leases end; omitted for messages that a worker posted
 */
async function storeAccepted(
  transaction: Transaction,
  webhookId: string,
  attempts: readonly (AttemptResult & { deliveryId: string })[],
  endOfLeases?: Date,
): Promise<void> {
  await transaction.webhook.updateMany({
    where: { id: webhookId, failingSince: { not: null } },
    data: { failingSince: null },
  });
  const delivered = await transaction.webhookDelivery.updateManyAndReturn({
    where: { id: { in: attempts.map(({ deliveryId }) => deliveryId) } },
    data: { status: 'DELIVERED', ...(endOfLeases && { nextAttemptAt: endOfLeases }) },
    select: { id: true },
  });
  const ids = new Set(delivered.map(({ id }) => id));
  await transaction.webhookAttempt.createMany({
    data: attempts
      .filter(({ deliveryId }) => ids.has(deliveryId))
      .map((attempt) => ({ id: newId(), ...attempt })),
  });
}

/**
 * Completes the messages that a reader acknowledges, and ends their leases. Messages that no reader has pulled, or that
 * are already acknowledged, stay unchanged. The webhook must be locked in the caller's transaction.
 *
 * @returns an attempt for each newly acknowledged message
 */
export async function storeAcknowledgements(
  transaction: Transaction,
  webhookId: string,
  ids: readonly string[],
): Promise<AttemptResult[]> {
  const now = await databaseNow(transaction);
  const pulled = await transaction.webhookDelivery.findMany({
    where: { webhookId, id: { in: [...ids] }, status: { not: 'DELIVERED' }, claimedAt: { not: null } },
    select: { id: true, claimedAt: true },
  });
  const attempts = pulled.map(({ id, claimedAt }) => ({
    deliveryId: id,
    httpStatus: null,
    error: null,
    // `claimedAt` is later than `now` when this transaction waited for the transaction that claimed the message.
    // `Math.max` prevents a negative duration.
    durationMs: Math.min(Math.max(now.getTime() - (claimedAt ?? now).getTime(), 0), maxDurationMs),
  }));
  await storeAccepted(transaction, webhookId, attempts, now);
  return attempts;
}

/**
 * Stores the result of an attempt to deliver a message: the message is delivered, waits for its next attempt, or has
 * failed. The webhook is disabled when its receiver unsubscribes or has failed for days. All times are by the clock of
 * the database. Every transaction that changes a webhook and its deliveries changes the webhook first, so that
 * transactions cannot deadlock.
 *
 * @returns the outcome; if the delivery was deleted in the meantime, the outcome is `failed`
 */
export async function storeOutcome(
  prisma: PrismaClient,
  { id, webhookId }: ClaimedDelivery,
  result: AttemptResult,
): Promise<AttemptOutcome> {
  return prisma.$transaction(async (transaction) => {
    const attempt = { deliveryId: id, ...result };
    if (isAccepted(result)) {
      await storeAccepted(transaction, webhookId, [attempt]);
      return 'delivered';
    }

    const now = await databaseNow(transaction);
    await transaction.webhook.updateMany({
      where: { id: webhookId, failingSince: null },
      data: { failingSince: now },
    });
    const webhook = await transaction.webhook.findUnique({ where: { id: webhookId } });
    const isGone = result.httpStatus === goneStatus;
    const failingSince = webhook?.failingSince ?? now;
    const isFailingTooLong = now.getTime() - failingSince.getTime() >= disableAfterFailingMs;
    const isEnding = isGone || isFailingTooLong;
    if (webhook && isEnding && (await disableWebhook(transaction, webhookId))) {
      await recordChange(
        transaction,
        { key: null, requestId: id },
        {
          action: 'webhook.disabled',
          targetId: webhookId,
          companyId: webhook.companyId,
          changes: {
            reason: isGone ? 'GONE' : 'FAILING',
            httpStatus: result.httpStatus,
            failingSince,
            url: webhook.url,
          },
        },
      );
    }

    const delivery = await transaction.webhookDelivery.findUnique({ where: { id } });
    if (!delivery) return 'failed';
    const triedForMs = now.getTime() - (delivery.retryUntil.getTime() - retryForMs);
    const nextAttemptAt = new Date(now.getTime() + retryDelayMs(triedForMs));
    const isOver = isEnding || nextAttemptAt > delivery.retryUntil;
    await transaction.webhookDelivery.updateMany({
      // The status is checked again, because it can change during an attempt. A client may have disabled the webhook,
      // which cancels the delivery, or a reader may have acknowledged the message.
      where: { id, status: isEnding ? { not: 'DELIVERED' } : 'PENDING' },
      // The claim ends with the attempt, so that a client can send the message again immediately.
      data: isOver ? { status: 'FAILED', nextAttemptAt: now } : { nextAttemptAt },
    });
    await transaction.webhookAttempt.create({ data: { id: newId(), ...attempt } });
    return isOver ? 'failed' : 'retry';
  });
}
