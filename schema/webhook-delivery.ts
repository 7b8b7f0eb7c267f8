import { z } from 'zod';
import { WebhookDeliveryStatus as statuses } from '../prisma/generated/client/enums.ts';
import { webhookEvents } from '../src/audit/actions.ts';
import { retryDays } from '../src/webhooks/outbox.ts';
import type { Delivery } from '../src/webhooks/reads.ts';
import { builder } from './builder.ts';
import { keysetConnection } from './pagination.ts';
import { instant } from './instant.ts';
import { identifier } from './rules.ts';
import { Webhook, WebhookEvent, webhookIdArg } from './webhook.ts';

const WebhookDeliveryStatus = builder.enumType(statuses, {
  name: 'WebhookDeliveryStatus',
  description: 'The state of the delivery of a webhook message.',
  values: {
    PENDING: {
      description:
        'The webhook message is not yet delivered. With push delivery, the gateway still tries to send the message. With pull delivery, the message waits until a client has pulled and acknowledged it.',
    },
    DELIVERED: {
      description:
        'The receiver accepted the webhook message with a 2xx status or, with pull delivery, a client acknowledged the message.',
    },
    FAILED: {
      description: `The receiver did not accept the webhook message within ${retryDays} days, or the gateway disabled the webhook after the last delivery attempt.`,
    },
    CANCELLED: {
      description:
        'The gateway cancelled the delivery, because the webhook was disabled before the receiver accepted the webhook message.',
    },
  },
});

const WebhookAttempt = builder.prismaObject('WebhookAttempt', {
  description:
    'One attempt to deliver a webhook message. With push delivery, an attempt is an HTTP request to the receiver. With pull delivery, an attempt is the lease of a message: the time during which the message belongs to the client that pulled it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the attempt.' }),
    httpStatus: t.exposeInt('httpStatus', {
      nullable: true,
      description:
        'The HTTP status with which the receiver of the webhook message responded. `httpStatus` is null when the receiver did not respond, and always null with pull delivery.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description:
        'The reason why the receiver did not respond or, with pull delivery, why the client did not acknowledge the message; otherwise null.',
    }),
    durationMs: t.exposeInt('durationMs', {
      description: 'Duration of the attempt to deliver the webhook message, in milliseconds.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time at which the attempt to deliver the webhook message ended.',
    }),
  }),
});

/**
 * When the gateway computes the cost of the field `attempts`, it assumes this number of attempts for each delivery. The
 * gateway makes about 20 attempts to deliver a webhook message before it stops.
 */
const usualAttempts = 20;
/** The cost of the field `body` of a webhook delivery. */
const bodyComplexity = 20;

const WebhookDelivery = builder.objectRef<Delivery>('WebhookDelivery').implement({
  description: 'One webhook message, and its delivery to the receiver of one webhook.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description:
        'The header `webhook-id` of the webhook message, which is the same in every attempt to deliver the message.',
    }),
    webhookId: t.exposeID('webhookId', { description: 'Identifier of the webhook.' }),
    type: t.exposeString('type', {
      description:
        'The name of the event that the webhook message reports, such as `whitelist.created`; `webhook.test` for a test message.',
    }),
    status: t.expose('status', {
      type: WebhookDeliveryStatus,
      description: 'The state of the delivery of the webhook message.',
    }),
    body: t.string({
      nullable: true,
      // The field `body` costs more than other text fields, because the gateway must read an audit record to create the
      // body. An audit record of an import can be large, because it can contain thousands of identifiers.
      complexity: bodyComplexity,
      description:
        'The body of the webhook message: a JSON object with the properties `type`, `timestamp` and `data`. `body` is null when the API key lacks the permission to read the event.',
      resolve: (delivery, _, context) => context.services.webhooks.bodyOf(context, delivery),
    }),
    attempts: t.expose('attempts', {
      type: [WebhookAttempt],
      complexity: { field: 1, multiplier: usualAttempts },
      description: 'The attempts to deliver the webhook message so far, oldest first.',
    }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'The earliest time of the next attempt to deliver the message; with pull delivery, the earliest time at which a client can pull the message. `nextAttemptAt` is null when the gateway will not try again to deliver the message.',
      resolve: ({ status, nextAttemptAt }) => (status === 'PENDING' ? nextAttemptAt : null),
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time of the event that the webhook message reports.',
    }),
  }),
});

const WebhookDeliveryConnection = builder.connectionObject(
  { type: WebhookDelivery, name: 'WebhookDeliveryConnection', description: 'A page of deliveries.' },
  {
    name: 'WebhookDeliveryEdge',
    description: 'A webhook delivery, with the cursor that marks its position in the list.',
  },
);

builder.objectField(Webhook, 'deliveries', (t) =>
  t.connection(
    {
      type: WebhookDelivery,
      description: 'The webhook deliveries of this webhook, newest first.',
      args: {
        status: t.arg({
          type: WebhookDeliveryStatus,
          description: 'A delivery state: the list contains only the webhook deliveries in this state.',
          validate: z.enum(statuses).nullish(),
        }),
      },
      resolve: ({ id }, { status, ...args }, { services: { webhooks } }) =>
        keysetConnection(args, webhooks.deliveriesOf(id, status), { newestFirst: true }),
    },
    WebhookDeliveryConnection,
  ),
);

const WebhookRecovery = builder.objectRef<{ deliveries: number }>('WebhookRecovery').implement({
  description: 'The result of `recoverWebhook`.',
  fields: (t) => ({
    deliveries: t.exposeInt('deliveries', {
      description: 'Number of webhook messages that the gateway will send again.',
    }),
  }),
});

builder.mutationFields((t) => ({
  testWebhook: t.field({
    type: WebhookDelivery,
    permission: 'MANAGE_WEBHOOKS',
    errors: ['CONFLICT'],
    description:
      'Sends a test message of the type `webhook.test` to the receiver of the webhook. If `event` is given, the gateway sends a sample message about this event instead of the test message. The webhook need not be subscribed to this event. A sample message describes no real change, and its `data` contains `sample: true`. Fails with `CONFLICT` when the webhook is disabled.',
    args: {
      id: t.arg.id(webhookIdArg),
      event: t.arg({
        type: WebhookEvent,
        description: 'The event for which the gateway sends a sample message.',
        validate: z.enum(webhookEvents).nullish(),
      }),
    },
    resolve: (_, { id, event }, context) => context.services.webhooks.test(context, id, event),
  }),
  redeliverWebhook: t.field({
    type: WebhookDelivery,
    permission: 'MANAGE_WEBHOOKS',
    errors: ['CONFLICT'],
    description:
      'Sends a webhook message again with the same identifier, even if the receiver already accepted the message. Fails with `FORBIDDEN` when the API key may not read the webhook event, and with `CONFLICT` when the webhook is disabled.',
    args: {
      deliveryId: t.arg.id({
        required: true,
        description: 'Identifier of the delivery.',
        validate: identifier,
      }),
    },
    resolve: (_, { deliveryId }, context) => context.services.webhooks.redeliver(context, deliveryId),
  }),
  recoverWebhook: t.field({
    type: WebhookRecovery,
    permission: 'MANAGE_WEBHOOKS',
    description:
      'Sends undelivered webhook messages again if the gateway tried to deliver them between `since` and `until`. The gateway also sends failed or cancelled messages again if these messages report changes that were made between `since` and `until`. The gateway does not send messages about events that the API key may not read. Fails with `CONFLICT` when the webhook is disabled.',
    args: {
      id: t.arg.id(webhookIdArg),
      since: t.arg({
        type: 'DateTime',
        required: true,
        description: 'The start of the period; this time must be in the past.',
        validate: instant,
      }),
      until: t.arg({
        type: 'DateTime',
        description: 'The end of the period; this time must be later than `since`. Default: now.',
        validate: instant.nullish(),
      }),
    },
    resolve: async (_, { id, since, until }, context) => ({
      deliveries: await context.services.webhooks.recover(context, id, { since, until }),
    }),
  }),
}));
