import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { WebhookEvent } from '../audit/actions.ts';
import { recordChange } from '../audit/record.ts';
import type { Author, WaitingAuthor } from '../auth/key.ts';
import { databaseNow } from '../database/clock.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { invalidField, ServiceError } from '../errors/error-table.ts';
import { isId, newId } from '../ids.ts';
import { maxBatchDeliveries, resendBatch, resendStatement, type ResentBatch } from './batch-statements.ts';
import { inBatches } from './in-batches.ts';
import { retryDays, retryForMs } from './outbox.ts';
import { testMessageType } from './payload.ts';
import { deliveryNotFound, lockWebhook, requireEnabled } from './lock.ts';
import { type Delivery, withAttempts } from './reads.ts';
import { requireReadPermissions, unreadableEvents } from './requirements.ts';

/** The functions that send test messages of webhooks, and resend earlier webhook messages. */
export type WebhookRedeliveries = ReturnType<typeof createWebhookRedeliveries>;

/**
 * Creates the functions that send test messages of webhooks, and resend earlier webhook messages. Every transaction of
 * this file and of `writes.ts` first locks the webhook, so these transactions cannot deadlock.
 */
export function createWebhookRedeliveries({ prisma }: { prisma: PrismaClient }) {
  return {
    /**
     * Sends a test message.
     *
     * @param event the event whose sample message is sent; if omitted, a message of the type `webhook.test` is sent
     * @throws {ServiceError} `NOT_FOUND` for an unknown webhook
     * @throws {ServiceError} `CONFLICT` when the webhook is disabled
     */
    async test(author: Author, id: string, event?: WebhookEvent | null): Promise<Delivery> {
      return prisma.$transaction(async (transaction) => {
        const webhook = await lockWebhook(transaction, author.key, id);
        requireEnabled(webhook);
        const eventId = await recordChange(transaction, author, {
          action: 'webhook.tested',
          targetId: id,
          companyId: webhook.companyId,
          ...(event && { changes: { event } }),
        });
        const now = await databaseNow(transaction);
        return transaction.webhookDelivery.create({
          data: {
            id: newId(),
            webhookId: id,
            eventId,
            type: event ?? testMessageType,
            retryUntil: new Date(now.getTime() + retryForMs),
          },
          include: withAttempts,
        });
      });
    },

    /**
     * Sends a webhook message again, even if the receiver has already accepted the message.
     *
     * @throws {ServiceError} `FORBIDDEN` for a webhook message that the API key may not read
     * @throws {ServiceError} `NOT_FOUND` for a delivery outside the API key's scope
     * @throws {ServiceError} `CONFLICT` when the webhook is disabled
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
        requireReadPermissions(author.key, [found.type], 'deliveryId');
        requireEnabled(webhook);
        await queryInTransaction(transaction, resendStatement, { deliveryId, retryDays });
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
        // If the retention job removed the webhook delivery before this query, the query finds no delivery.
        if (!delivery) throw deliveryNotFound(deliveryId);
        return delivery;
      });
    },

    /**
     * Resends the webhook messages that the receiver of a webhook did not accept. The function resends a webhook
     * message if the gateway tried to deliver it in the given time range and the receiver has not yet accepted it. The
     * function also resends the message of each webhook delivery that was created in the given time range and then
     * failed or was cancelled. The function does not resend messages that the API key may not read. The function
     * resends the messages in batches. The transaction that resends the last batch of messages also writes the audit
     * record.
     *
     * @param until the end of the time range; the default is the current time
     * @returns the number of webhook deliveries that the gateway will send again
     * @throws {ServiceError} `NOT_FOUND` for an unknown webhook
     * @throws {ServiceError} `CONFLICT` when the webhook is disabled. The error `CONFLICT` can also occur after the
     *   first batches of messages, because a client can disable the webhook between two batches
     * @throws {ServiceError} `VALIDATION_ERROR` when `since` is not in the past, or `until` is not after `since`
     */
    async recover(
      author: WaitingAuthor,
      id: string,
      { since, until }: { since: Date; until: Date | null | undefined },
    ): Promise<number> {
      let now: Date | undefined;
      let after = '';
      let deliveries = 0;
      const unreadable = unreadableEvents(author.key);
      return inBatches(author, () =>
        prisma.$transaction(async (transaction) => {
          const webhook = await lockWebhook(transaction, author.key, id);
          requireEnabled(webhook);
          now ??= await databaseNow(transaction);
          if (since >= now) throw invalidField('since', 'Must be in the past', since);
          const end = until ?? now;
          if (end <= since) throw invalidField('until', 'Must be after since', end);
          const parameters = { webhookId: id, after, since, until: end, unreadable, retryDays };
          const [batch] = await queryInTransaction<ResentBatch>(transaction, resendBatch, parameters);
          deliveries += batch?.count ?? 0;
          after = batch?.last ?? after;
          if (batch?.read === maxBatchDeliveries) return undefined;
          await recordChange(transaction, author, {
            action: 'webhook.recovered',
            targetId: id,
            companyId: webhook.companyId,
            changes: { since, until: end, deliveries },
          });
          return deliveries;
        }),
      );
    },
  };
}
