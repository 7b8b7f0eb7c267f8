import { z } from 'zod';
import type { Prisma } from '../prisma/generated/client/client.ts';
import { WebhookDeliveryStatus as statuses } from '../prisma/generated/client/enums.ts';
import { recordChange } from '../src/audit.ts';
import { ServiceError, shown } from '../src/errors.ts';
import { isId, newId } from '../src/ids.ts';
import { webhookScope } from '../src/scope.ts';
import { testEvent, webhookBody } from '../src/webhook-message.ts';
import { triedFor } from '../src/webhook-outbox.ts';
import { builder } from './builder.ts';
import { idOrder, idWhere, keysetConnection } from './pagination.ts';
import { findWebhook, Webhook } from './webhook.ts';

const withContext = {
  event: true,
  attempts: { orderBy: { id: 'asc' } },
} as const satisfies Prisma.WebhookDeliveryInclude;

type Delivery = Prisma.WebhookDeliveryGetPayload<{ include: typeof withContext }>;

const WebhookDeliveryStatus = builder.enumType(statuses, {
  name: 'WebhookDeliveryStatus',
  description: 'How far a delivery is.',
  values: {
    PENDING: { description: 'It is sent, now or again.' },
    DELIVERED: { description: 'The receiver took it: it answered with a status of 2xx.' },
    FAILED: { description: 'The receiver did not take it for 3 days, or answered 410 Gone.' },
    CANCELLED: { description: 'The webhook was disabled before the receiver took it.' },
  },
});

const WebhookAttempt = builder.prismaObject('WebhookAttempt', {
  description: 'One request to a receiver.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the attempt.' }),
    httpStatus: t.exposeInt('httpStatus', {
      nullable: true,
      description: 'The status of the answer; null when there was none.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why there was no answer.' }),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took, in milliseconds.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it ended.' }),
  }),
});

const WebhookDelivery = builder.objectRef<Delivery>('WebhookDelivery').implement({
  description: 'A message on its way to a webhook.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The `webhook-id` of the message, the same for every attempt.' }),
    webhookId: t.exposeID('webhookId', { description: 'The webhook that it is for.' }),
    type: t.exposeString('type', {
      description: 'What happened, such as `whitelist.created`; `webhook.test` for a test.',
    }),
    status: t.expose('status', { type: WebhookDeliveryStatus, description: 'How far it is.' }),
    body: t.string({
      description: 'What is posted: JSON with `type`, `timestamp` and `data`.',
      resolve: ({ type, event }) => webhookBody(type, event),
    }),
    attempts: t.expose('attempts', {
      type: [WebhookAttempt],
      // About as many are made in 3 days.
      complexity: { field: 1, multiplier: 20 },
      description: 'The requests that were made, first one first.',
    }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is sent next, at the earliest; null when it is not sent again.',
      resolve: ({ status, nextAttemptAt }) => (status === 'PENDING' ? nextAttemptAt : null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
  }),
});

const WebhookDeliveryConnection = builder.connectionObject(
  { type: WebhookDelivery, name: 'WebhookDeliveryConnection', description: 'A page of deliveries.' },
  { name: 'WebhookDeliveryEdge', description: 'A delivery and its place in the list.' },
);

builder.objectField(Webhook, 'deliveries', (t) =>
  t.connection(
    {
      type: WebhookDelivery,
      description: 'What was and is sent, newest first.',
      args: {
        status: t.arg({
          type: WebhookDeliveryStatus,
          description: 'Only deliveries that are so far.',
          validate: z.enum(statuses).nullish(),
        }),
      },
      resolve: ({ id }, { status, ...args }, { prisma }) => {
        const where = { webhookId: id, ...(status && { status }) };
        return keysetConnection(
          args,
          (page) =>
            prisma.webhookDelivery.findMany({
              where: { AND: [where, idWhere(page)] },
              ...idOrder(page),
              include: withContext,
            }),
          () => prisma.webhookDelivery.count({ where }),
          { newestFirst: true },
        );
      },
    },
    WebhookDeliveryConnection,
  ),
);

function requireEnabled({ id, disabledAt }: typeof Webhook.$inferType): void {
  if (disabledAt) throw new ServiceError('CONFLICT', 'Webhook is disabled', { field: 'id', value: id });
}

builder.mutationFields((t) => ({
  testWebhook: t.field({
    type: WebhookDelivery,
    permission: 'MANAGE_WEBHOOKS',
    description: 'Sends a message of the type `webhook.test`. `CONFLICT` when the webhook is disabled.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the webhook.' }) },
    resolve: async (_, { id }, context) => {
      const webhook = await findWebhook(id, context);
      requireEnabled(webhook);
      return context.prisma.$transaction(async (transaction) => {
        const eventId = await recordChange(transaction, context, {
          action: 'webhook.tested',
          targetId: id,
          companyId: webhook.companyId,
        });
        return transaction.webhookDelivery.create({
          data: {
            id: newId(),
            webhookId: id,
            eventId,
            type: testEvent,
            retryUntil: new Date(Date.now() + triedFor),
          },
          include: withContext,
        });
      });
    },
  }),
  redeliverWebhook: t.field({
    type: WebhookDelivery,
    permission: 'MANAGE_WEBHOOKS',
    description:
      'Sends a message again, under the same identifier, whether or not it was taken. `CONFLICT` when the webhook is disabled.',
    args: { deliveryId: t.arg.id({ required: true, description: 'Identifier of the delivery.' }) },
    resolve: async (_, { deliveryId }, context) => {
      const delivery = isId(deliveryId)
        ? await context.prisma.webhookDelivery.findFirst({
            where: { id: deliveryId, webhook: webhookScope(context.key) },
            include: { webhook: true },
          })
        : null;
      if (!delivery) {
        throw new ServiceError('NOT_FOUND', 'Webhook delivery not found', {
          field: 'deliveryId',
          value: shown(deliveryId),
        });
      }
      requireEnabled(delivery.webhook);
      const now = Date.now();
      return context.prisma.$transaction(async (transaction) => {
        await recordChange(transaction, context, {
          action: 'webhook.redelivered',
          targetId: delivery.webhookId,
          companyId: delivery.webhook.companyId,
          changes: { deliveryId },
        });
        return transaction.webhookDelivery.update({
          where: { id: deliveryId },
          data: { status: 'PENDING', nextAttemptAt: new Date(now), retryUntil: new Date(now + triedFor) },
          include: withContext,
        });
      });
    },
  }),
}));
