import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import { recordChange } from '../audit/record.ts';
import { databaseNow } from '../database/clock.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { lockRow } from '../database/row-lock.ts';
import type { Transaction } from '../database/types.ts';
import { newId } from '../ids.ts';
import { type ClaimedDelivery, disableWebhook, retryForMs } from './outbox.ts';
import { acceptStatement, maxDurationMs } from './statements.ts';

/**
 * The result of one attempt to deliver a webhook message: the HTTP status of the response, or an error. The
 * acknowledgement of a pulled message has neither a response nor an error, so its `httpStatus` and `error` are null.
 */
export interface AttemptResult {
  httpStatus: number | null;
  error: string | null;
  durationMs: number;
}

/**
 * The state of a webhook delivery after a delivery attempt: the message is delivered, will be sent again, or has
 * failed.
 */
export type AttemptOutcome = 'delivered' | 'retry' | 'failed';

/** The result of storing a delivery attempt in the database. */
interface StoredAttempt {
  /**
   * The state of the webhook delivery after the attempt. If a client deleted the webhook delivery during the attempt,
   * the outcome is `failed`.
   */
  outcome: AttemptOutcome;
  /**
   * Whether the delivery attempt disabled the webhook. If the delivery attempt disabled the webhook, the caller of this
   * function must call `cancelPending`.
   */
  hasDisabled: boolean;
}

/**
 * Whether the receiver accepted the message, according to the status of its response (Standard Webhooks, "Responses").
 */
export const isAccepted = ({ httpStatus }: AttemptResult) =>
  httpStatus !== null && httpStatus >= 200 && httpStatus < 300;

/**
 * The HTTP status of a receiver that wants no further messages (Standard Webhooks, "Responses").
 */
const goneStatus = 410;

/**
 * The number of days after which the gateway disables a failing webhook. A webhook is failing from its first failed
 * delivery attempt until its receiver accepts a message.
 */
export const disableAfterFailingDays = 5;
const disableAfterFailingMs = disableAfterFailingDays * 86_400_000;

const minRetryDelayMs = 10_000;
const maxRetryDelayMs = 6 * 3_600_000;

/**
 * Returns the pause between a failed delivery attempt and the next attempt, in milliseconds. The pause is twice the
 * time since the first delivery attempt, but at least 10 seconds and at most 6 hours. The function multiplies the pause
 * by a random factor from 0.5 to 1.5, so that many retries do not start at the same time.
 *
 * @param triedForMs the time since the first attempt to deliver the message
 */
export function retryDelayMs(triedForMs: number): number {
  const delayMs = Math.min(Math.max(2 * triedForMs, minRetryDelayMs), maxRetryDelayMs);
  return delayMs * (0.5 + Math.random());
}

/**
 * Stores that a webhook is no longer failing, because its receiver has accepted a message.
 *
 * @param webhook the webhook. If `url` is given, the function changes the webhook only if the webhook still has this
 *   URL
 */
async function endFailure(
  transaction: Transaction,
  webhook: { id: string; url?: string | null },
): Promise<void> {
  await transaction.webhook.updateMany({
    where: { ...webhook, failingSince: { not: null } },
    data: { failingSince: null },
  });
}

/**
 * Stores that the receiver of a push webhook has accepted a message. If a client asks the gateway to resend the message
 * while the delivery attempt runs, the message stays pending. The client may have changed the URL of the webhook before
 * it asked the gateway to resend the message. If the URL has changed, the receiver at the new URL has not got the
 * message. If a client has deleted the webhook, the function stores nothing.
 */
async function storeAccepted(
  transaction: Transaction,
  { id, webhookId, url, claimedAt }: ClaimedDelivery,
  result: AttemptResult,
): Promise<void> {
  await endFailure(transaction, { id: webhookId, url });
  const accepted = await queryInTransaction(transaction, acceptStatement, { id, claimedAt });
  if (accepted.length === 0) return;
  await transaction.webhookAttempt.create({ data: { id: newId(), deliveryId: id, ...result } });
}

/**
 * Marks messages of a pull webhook as delivered when a client acknowledges them, and ends their leases. Messages that
 * no client has pulled, and messages that are already acknowledged, stay unchanged. The caller must have locked the
 * webhook in the same transaction.
 *
 * @returns one completed delivery attempt for each message that this call acknowledged
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
    // `now` is the time at which this transaction began. If another transaction claimed the message after this time,
    // `claimedAt` is later than `now`, and the computed duration is negative. When the computed duration is negative,
    // the gateway stores the duration 0.
    durationMs: Math.min(Math.max(now.getTime() - (claimedAt ?? now).getTime(), 0), maxDurationMs),
  }));
  if (attempts.length === 0) return [];
  await endFailure(transaction, { id: webhookId });
  await transaction.webhookDelivery.updateMany({
    where: { id: { in: attempts.map(({ deliveryId }) => deliveryId) } },
    data: { status: 'DELIVERED', nextAttemptAt: now },
  });
  await transaction.webhookAttempt.createMany({
    data: attempts.map((attempt) => ({ id: newId(), ...attempt })),
  });
  return attempts;
}

/**
 * Stores the result of a delivery attempt: whether the attempt delivered the webhook message. If the attempt failed,
 * the function either schedules the next attempt or marks the delivery as failed. The function disables the webhook
 * when the receiver responds with the status `goneStatus`. It also disables a webhook that has been failing for
 * `disableAfterFailingDays` days. All times of a delivery and its attempts come from the clock of the database. Every
 * transaction that changes a webhook and its deliveries first changes or locks the webhook, so that two transactions
 * cannot deadlock.
 */
export async function storeOutcome(
  prisma: PrismaClient,
  claimed: ClaimedDelivery,
  result: AttemptResult,
): Promise<StoredAttempt> {
  const { id, webhookId, url, leaseEndsAt } = claimed;
  return prisma.$transaction(async (transaction) => {
    if (isAccepted(result)) {
      await storeAccepted(transaction, claimed, result);
      return { outcome: 'delivered', hasDisabled: false };
    }

    const now = await databaseNow(transaction);
    await lockRow(transaction, 'Webhook', webhookId);
    // During the delivery attempt, a client may have changed the URL of the webhook. A delivery attempt that failed at
    // the previous URL must not disable the webhook, because the receiver at the new URL may work.
    const webhook = await transaction.webhook.findUnique({ where: { id: webhookId, url } });
    if (webhook && !webhook.failingSince) {
      await transaction.webhook.update({ where: { id: webhookId }, data: { failingSince: now } });
    }
    const isGone = result.httpStatus === goneStatus;
    const failingSince = webhook?.failingSince ?? now;
    const isFailingTooLong = now.getTime() - failingSince.getTime() >= disableAfterFailingMs;
    const isEnding = webhook !== null && (isGone || isFailingTooLong);
    const hasDisabled = isEnding && (await disableWebhook(transaction, webhookId));
    if (hasDisabled) {
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
    if (!delivery) return { outcome: 'failed', hasDisabled };
    const firstAttempt = await transaction.webhookAttempt.findFirst({
      // The retry delay depends on the time since the first delivery attempt. If a client has asked the gateway to
      // resend the message, only the delivery attempts after that request count for the retry delay.
      where: { deliveryId: id, createdAt: { gte: new Date(delivery.retryUntil.getTime() - retryForMs) } },
      orderBy: { id: 'asc' },
      select: { createdAt: true },
    });
    const triedForMs = firstAttempt ? now.getTime() - firstAttempt.createdAt.getTime() : 0;
    const nextAttemptAt = new Date(now.getTime() + retryDelayMs(triedForMs));
    const isOver = isEnding || nextAttemptAt > delivery.retryUntil;
    await transaction.webhookDelivery.updateMany({
      // The status of the delivery can have changed during the attempt, for example because a client has disabled the
      // webhook or acknowledged the message. The gateway therefore checks the status of the delivery again. If the
      // lease of the failed attempt has ended, another worker, or a client that pulls messages, can already have
      // claimed the delivery. The result of the failed attempt must not shorten the lease of a worker or client that
      // has claimed the delivery in the meantime. The gateway therefore changes the delivery only if `nextAttemptAt` is
      // still the end of the failed attempt's lease. The value of `claimedAt` cannot identify a lease, because workers
      // never change `claimedAt` of a pull message.
      where: { id, nextAttemptAt: leaseEndsAt, status: isEnding ? { not: 'DELIVERED' } : 'PENDING' },
      // When a delivery has finally failed, the gateway sets `nextAttemptAt` to the current time, and thus ends the
      // lease of the worker. Because the lease has ended, a worker can send the message at once when a client asks the
      // gateway to resend it.
      data: isOver ? { status: 'FAILED', nextAttemptAt: now } : { nextAttemptAt },
    });
    await transaction.webhookAttempt.create({ data: { id: newId(), deliveryId: id, ...result } });
    return { outcome: isOver ? 'failed' : 'retry', hasDisabled };
  });
}
