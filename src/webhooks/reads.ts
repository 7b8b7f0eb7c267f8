import type { JsonValue } from '@prisma/client/runtime/client';
import type { Prisma, PrismaClient, Webhook } from '../../prisma/generated/client/client.ts';
import type { WebhookDeliveryStatus } from '../../prisma/generated/client/enums.ts';
import { mayReadChanges } from '../audit/actions.ts';
import { auditRecordColumns } from '../audit/reads.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { webhookScope } from '../auth/scope.ts';
import type { LargeValues, ValueReader } from '../database/large-values.ts';
import { prismaList } from '../database/prisma-list.ts';
import type { Sql } from '../database/types.ts';
import type { PagedList } from '../paging.ts';
import { findWebhook } from './lock.ts';
import { createChangesWithCounts, isListing } from './message-changes.ts';
import { messageBody, testMessageType } from './payload.ts';

/**
 * This Prisma option also reads the attempts of each webhook delivery. The attempts are sorted from oldest to newest.
 */
export const withAttempts = {
  attempts: { orderBy: { id: 'asc' } },
} as const satisfies Prisma.WebhookDeliveryInclude;

/** A webhook delivery with its attempts. */
export type Delivery = Prisma.WebhookDeliveryGetPayload<{ include: typeof withAttempts }>;

/** The functions that read webhooks from the database. */
export type WebhookReads = ReturnType<typeof createWebhookReads>;

/**
 * Creates the functions that read webhooks and their deliveries from the database.
 *
 * @param services.changesOf a function that reads the column `changes` of the audit record with a given id
 */
export function createWebhookReads(services: { prisma: PrismaClient; sql: Sql; changesOf: LargeValues }) {
  const { prisma, sql, changesOf } = services;
  const changesWithCounts = createChangesWithCounts(sql);
  return {
    /** Lists the webhooks that an API key may manage. */
    list: (key: AuthenticatedKey): PagedList<Webhook> => prismaList(prisma.webhook, webhookScope(key)),

    /**
     * Finds a webhook by an id that a client sent.
     *
     * @throws {ServiceError} `NOT_FOUND` for an unknown webhook and for a webhook outside the API key's scope
     */
    find: (key: AuthenticatedKey, id: string): Promise<Webhook> => findWebhook(prisma, key, id),

    /**
     * Lists the deliveries of a webhook. If a status is given, the list contains only the deliveries with this status.
     */
    deliveriesOf(webhookId: string, status: WebhookDeliveryStatus | null | undefined): PagedList<Delivery> {
      const where: Prisma.WebhookDeliveryWhereInput = { webhookId, ...(status && { status }) };
      return prismaList(
        {
          findMany: (query) => prisma.webhookDelivery.findMany({ ...query, include: withAttempts }),
          count: (query) => prisma.webhookDelivery.count(query),
        },
        where,
      );
    },

    /**
     * Returns the body of the webhook message that belongs to a delivery. A webhook message describes a change of data.
     * If the API key has no permission to read the data that the message describes, the result is null.
     */
    async bodyOf(
      reader: ValueReader & { key: AuthenticatedKey },
      { type, eventId }: Pick<Delivery, 'type' | 'eventId'>,
    ): Promise<string | null> {
      if (type !== testMessageType && !mayReadChanges(reader.key.permissions, type)) return null;
      const [event, changes] = await Promise.all([
        prisma.auditRecord.findUnique({ where: { id: eventId }, select: auditRecordColumns }),
        isListing(type) ? changesWithCounts(eventId) : changesOf(reader, eventId),
      ]);
      return event && messageBody({ ...event, changes: changes as JsonValue, type });
    },
  };
}
