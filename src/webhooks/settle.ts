import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import { recordChange } from '../audit/record.ts';
import { databaseNow } from '../database/clock.ts';
import { newId } from '../ids.ts';
import { type ClaimedDelivery, disableWebhook, retryForMs } from './outbox.ts';

/** The result of one attempt: the status of an answer, or why there was none. */
export interface AttemptResult {
  httpStatus: number | null;
  error: string | null;
  durationMs: number;
}

/** What became of a delivery by an attempt: done, tried again later, or given up. */
export type AttemptOutcome = 'delivered' | 'retry' | 'failed';

/** Whether the receiver accepted the message (Standard Webhooks, "Responses"). */
export const isAccepted = ({ httpStatus }: AttemptResult) =>
  httpStatus !== null && httpStatus >= 200 && httpStatus < 300;

/** The status of a receiver that wants no more messages (Standard Webhooks, "Responses"). */
const goneStatus = 410;

/** A webhook is disabled when its receiver has accepted nothing for so many days. */
export const disableAfterFailingDays = 5;
const disableAfterFailingMs = disableAfterFailingDays * 86_400_000;

const minRetryDelayMs = 10_000;
const maxRetryDelayMs = 6 * 3_600_000;

/**
 * The time from a failed attempt to the next one, in milliseconds: twice the time that the delivery has been tried,
 * between 10 seconds and 6 hours, times a random factor from 0.5 to 1.5 so that deliveries spread out.
 *
 * @param triedForMs how long the delivery has been tried
 */
export function retryDelayMs(triedForMs: number): number {
  const delayMs = Math.min(Math.max(2 * triedForMs, minRetryDelayMs), maxRetryDelayMs);
  return delayMs * (0.5 + Math.random());
}

/**
 * Stores the result of an attempt and what follows from it: the delivery is done, waits for its next attempt, or has
 * failed; a webhook whose receiver is gone or has failed for days is disabled. All by the clock of the database.
 *
 * A transaction that changes a webhook and its deliveries changes the webhook first, so that none waits for another
 * one that waits for it.
 *
 * @returns what became of the delivery; a delivery that was removed meanwhile has failed
 */
export async function settleAttempt(
  prisma: PrismaClient,
  { id, webhookId }: ClaimedDelivery,
  result: AttemptResult,
): Promise<AttemptOutcome> {
  return prisma.$transaction(async (transaction) => {
    const attempt = { data: { id: newId(), deliveryId: id, ...result } };
    if (isAccepted(result)) {
      await transaction.webhook.updateMany({
        where: { id: webhookId, failingSince: { not: null } },
        data: { failingSince: null },
      });
      // A webhook that is deleted meanwhile takes its deliveries with it.
      const { count } = await transaction.webhookDelivery.updateMany({
        where: { id },
        data: { status: 'DELIVERED' },
      });
      if (count > 0) await transaction.webhookAttempt.create(attempt);
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
      // A client may have disabled the webhook during the attempt, which cancelled the delivery.
      where: isEnding ? { id } : { id, status: 'PENDING' },
      data: isOver ? { status: 'FAILED' } : { nextAttemptAt },
    });
    await transaction.webhookAttempt.create(attempt);
    return isOver ? 'failed' : 'retry';
  });
}
