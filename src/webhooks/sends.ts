import type { Prisma, PrismaClient, Webhook } from '../../prisma/generated/client/client.ts';
import { recordChange, type Transaction } from '../audit/record.ts';
import type { Author } from '../auth/key.ts';
import { databaseNow } from '../database/clock.ts';
import { invalidField, ServiceError } from '../errors/error-table.ts';
import { isId, newId } from '../ids.ts';
import { retryForMs } from './outbox.ts';
import { testMessageType } from './payload.ts';
import { deliveryNotFound, lockWebhook } from './lock.ts';
import { type Delivery, withAttempts } from './reads.ts';

function requireEnabled({ id, disabledAt }: Webhook): void {
  if (disabledAt) throw new ServiceError('CONFLICT', 'Webhook is disabled', { field: 'id', value: id });
}

/** Makes deliveries due now, and lets them be tried for the whole time again. Returns how many they are. */
async function sendAgain(transaction: Transaction, where: Prisma.WebhookDeliveryWhereInput): Promise<number> {
  const now = await databaseNow(transaction);
  const { count } = await transaction.webhookDelivery.updateMany({
    where,
    data: { status: 'PENDING', nextAttemptAt: now, retryUntil: new Date(now.getTime() + retryForMs) },
  });
  return count;
}

/** The messages that clients ask for, in one database. */
export type WebhookSends = ReturnType<typeof createWebhookSends>;

/**
 * Prepares the messages that a client asks for: a test, and what was sent before. Each is one transaction that locks the
 * webhook first, like those of `writes.ts`.
 */
export function createWebhookSends({ prisma }: { prisma: PrismaClient }) {
  return {
    /**
     * Sends a test message.
     *
     * @throws {ServiceError} `NOT_FOUND`, `CONFLICT` when the webhook is disabled
     */
    async test(author: Author, id: string): Promise<Delivery> {
      return prisma.$transaction(async (transaction) => {
        const webhook = await lockWebhook(transaction, author.key, id);
        requireEnabled(webhook);
        const eventId = await recordChange(transaction, author, {
          action: 'webhook.tested',
          targetId: id,
          companyId: webhook.companyId,
        });
        const now = await databaseNow(transaction);
        return transaction.webhookDelivery.create({
          data: {
            id: newId(),
            webhookId: id,
            eventId,
            type: testMessageType,
            retryUntil: new Date(now.getTime() + retryForMs),
          },
          include: withAttempts,
        });
      });
    },

    /**
     * Sends a message again, whether or not the receiver accepted it before.
     *
     * @throws {ServiceError} `NOT_FOUND` for a delivery out of reach, `CONFLICT` when the webhook is disabled
     */
    async redeliver(author: Author, deliveryId: string): Promise<Delivery> {
      return prisma.$transaction(async (transaction) => {
        const found = isId(deliveryId)
          ? await transaction.webhookDelivery.findUnique({ where: { id: deliveryId } })
          : null;
        if (!found) throw deliveryNotFound(deliveryId);
        const webhook = await lockWebhook(transaction, author.key, found.webhookId).catch(
          (error: unknown) => {
            throw error instanceof ServiceError ? deliveryNotFound(deliveryId) : error;
          },
        );
        requireEnabled(webhook);
        await sendAgain(transaction, { id: deliveryId });
        await recordChange(transaction, author, {
          action: 'webhook.redelivered',
          targetId: webhook.id,
          companyId: webhook.companyId,
          changes: { deliveryId },
        });
        const delivery = await transaction.webhookDelivery.findUnique({
          where: { id: deliveryId },
          include: withAttempts,
        });
        // Retention may have removed it.
        if (!delivery) throw deliveryNotFound(deliveryId);
        return delivery;
      });
    },

    /**
     * Sends again what the receiver did not accept in some time: deliveries with a failed attempt in it, and those of
     * changes made in it that failed or were cancelled.
     *
     * @param until now when left out
     * @returns how many deliveries are sent again
     * @throws {ServiceError} `NOT_FOUND`, `CONFLICT` when the webhook is disabled, `VALIDATION_ERROR` for an end that is
     *   not after the start
     */
    async recover(
      author: Author,
      id: string,
      { since, until }: { since: Date; until: Date | null | undefined },
    ): Promise<number> {
      return prisma.$transaction(async (transaction) => {
        const webhook = await lockWebhook(transaction, author.key, id);
        requireEnabled(webhook);
        const end = until ?? (await databaseNow(transaction));
        if (until && until <= since) throw invalidField('until', 'Must be after since', until.toISOString());
        const createdAt = { gte: since, lte: end };
        const deliveries = await sendAgain(transaction, {
          webhookId: id,
          OR: [
            { status: { in: ['FAILED', 'CANCELLED'] }, createdAt },
            { status: { not: 'DELIVERED' }, attempts: { some: { createdAt } } },
          ],
        });
        await recordChange(transaction, author, {
          action: 'webhook.recovered',
          targetId: id,
          companyId: webhook.companyId,
          changes: { since, until: end, deliveries },
        });
        return deliveries;
      });
    },
  };
}
