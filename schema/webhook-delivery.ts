import { z } from 'zod';
import { WebhookDeliveryStatus as statuses } from '../prisma/generated/client/enums.ts';
import { retryDays } from '../src/webhooks/outbox.ts';
import type { Delivery } from '../src/webhooks/reads.ts';
import { builder } from './builder.ts';
import { keysetConnection } from './pagination.ts';
import { instant } from './rules.ts';
import { Webhook } from './webhook.ts';

const WebhookDeliveryStatus = builder.enumType(statuses, {
  name: 'WebhookDeliveryStatus',
  description: 'The state of a delivery.',
  values: {
    PENDING: { description: 'It waits to be sent, for the first time or again.' },
    DELIVERED: { description: 'The receiver accepted it: it answered with a status of 2xx.' },
    FAILED: {
      description: `The receiver did not accept it for ${retryDays} days, or the service disabled the webhook after this attempt.`,
    },
    CANCELLED: { description: 'The webhook was disabled before the receiver accepted it.' },
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

/** About as many attempts are made before a delivery fails. */
const usualAttempts = 20;
/** What `body` adds to the cost of an operation. */
const bodyComplexity = 20;

const WebhookDelivery = builder.objectRef<Delivery>('WebhookDelivery').implement({
  description: 'A message on its way to a webhook.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The `webhook-id` of the message, the same for every attempt.' }),
    webhookId: t.exposeID('webhookId', { description: 'The webhook that it is for.' }),
    type: t.exposeString('type', {
      description: 'What happened, such as `whitelist.created`; `webhook.test` for a test.',
    }),
    status: t.expose('status', { type: WebhookDeliveryStatus, description: 'Its state.' }),
    body: t.string({
      nullable: true,
      // Each reads an audit record, which for an import lists thousands of identifiers.
      complexity: bodyComplexity,
      description:
        'What is posted: JSON with `type`, `timestamp` and `data`; null when the key lacks the permission that reads such a change.',
      resolve: (delivery, _, context) => context.webhooks.bodyOf(context, delivery),
    }),
    attempts: t.expose('attempts', {
      type: [WebhookAttempt],
      complexity: { field: 1, multiplier: usualAttempts },
      description: 'The requests that were made, oldest first.',
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
          description: 'Only deliveries in this state.',
          validate: z.enum(statuses).nullish(),
        }),
      },
      resolve: ({ id }, { status, ...args }, { webhooks }) =>
        keysetConnection(args, webhooks.deliveriesOf(id, status), { newestFirst: true }),
    },
    WebhookDeliveryConnection,
  ),
);

const WebhookRecovery = builder.objectRef<{ deliveries: number }>('WebhookRecovery').implement({
  description: 'What a recovery sends again.',
  fields: (t) => ({
    deliveries: t.exposeInt('deliveries', { description: 'How many deliveries are sent again.' }),
  }),
});

builder.mutationFields((t) => ({
  testWebhook: t.field({
    type: WebhookDelivery,
    permission: 'MANAGE_WEBHOOKS',
    errors: ['CONFLICT'],
    description: 'Sends a message of the type `webhook.test`. `CONFLICT` when the webhook is disabled.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the webhook.' }) },
    resolve: (_, { id }, context) => context.webhooks.test(context, id),
  }),
  redeliverWebhook: t.field({
    type: WebhookDelivery,
    permission: 'MANAGE_WEBHOOKS',
    errors: ['CONFLICT'],
    description:
      'Sends a message again, under the same identifier, whether or not the receiver accepted it. `CONFLICT` when the webhook is disabled.',
    args: { deliveryId: t.arg.id({ required: true, description: 'Identifier of the delivery.' }) },
    resolve: (_, { deliveryId }, context) => context.webhooks.redeliver(context, deliveryId),
  }),
  recoverWebhook: t.field({
    type: WebhookRecovery,
    permission: 'MANAGE_WEBHOOKS',
    description:
      'Sends again what the receiver did not accept in some time: messages with a failed attempt in it, and those of changes made in it that failed or were cancelled. `CONFLICT` when the webhook is disabled.',
    args: {
      id: t.arg.id({ required: true, description: 'Identifier of the webhook.' }),
      since: t.arg({
        type: 'DateTime',
        required: true,
        description: 'The start of the time.',
        validate: instant,
      }),
      until: t.arg({
        type: 'DateTime',
        description: 'The end of the time, after `since`; now when left out.',
        validate: instant.nullish(),
      }),
    },
    resolve: async (_, { id, since, until }, context) => ({
      deliveries: await context.webhooks.recover(context, id, { since, until }),
    }),
  }),
}));
