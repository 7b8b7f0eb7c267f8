import { z } from 'zod';
import { retryDays } from '../src/webhooks/outbox.ts';
import {
  maxLeaseSeconds,
  maxPulledMessages,
  minLeaseSeconds,
  type PulledMessage,
} from '../src/webhooks/pull.ts';
import { maxCountedWaiting } from '../src/webhooks/waiting-messages.ts';
import { builder } from './builder.ts';
import { identifier, wholeNumber } from './rules.ts';

/** The default length of a lease on messages, in seconds. */
const defaultLeaseSeconds = 60;

/**
 * The cost of the field `body`. One SQL statement reads the bodies of all messages, and a request for the maximum
 * number of messages costs one rate limit point.
 */
const bodyComplexity = 10;
/** The cost of the field `headers`. Each message has five headers. */
const headersComplexity = { field: 1, multiplier: 5, reads: false };

/**
 * Returns the maximum number of messages that a request asks for. The validation rule of the argument rejects numbers
 * out of range.
 */
const pulledMessages = ({ first }: Readonly<Record<string, unknown>>) =>
  typeof first === 'number' ? Math.min(Math.max(first, 0), maxPulledMessages) : maxPulledMessages;

const messageIds = z
  .array(identifier)
  .max(maxPulledMessages, `Must be at most ${maxPulledMessages} identifiers`);

const WebhookHeader = builder.objectRef<{ name: string; value: string }>('WebhookHeader').implement({
  description: 'One HTTP header of a message.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the header, such as `webhook-signature`.' }),
    value: t.exposeString('value', { description: 'Value of the header.' }),
  }),
});

const WebhookMessage = builder.objectRef<PulledMessage>('WebhookMessage').implement({
  description:
    'A message of a webhook with pull delivery. The message is equal to the request that push delivery would post. The reader has a lease on the message, which ends after some time.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description:
        'The `webhook-id` of the message, for `acknowledgeWebhookMessages`. It is the same each time the message is pulled.',
    }),
    event: t.exposeString('event', {
      description: 'The event, such as `whitelist.created`; `webhook.test` for a test message.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the event happened.' }),
    headers: t.field({
      type: [WebhookHeader],
      complexity: headersComplexity,
      description:
        'The headers of the equivalent push request: `Content-Type`, `User-Agent`, and the headers of Standard Webhooks with the signature.',
      resolve: ({ headers }) => Object.entries(headers).map(([name, value]) => ({ name, value })),
    }),
    body: t.exposeString('body', {
      complexity: bodyComplexity,
      description:
        'The body: JSON with `type`, `timestamp` and `data`. The signature covers exactly these bytes.',
    }),
    leaseEndsAt: t.expose('leaseEndsAt', {
      type: 'DateTime',
      description:
        'When the lease ends. Before this time, no other reader gets the message, and the reader should acknowledge the message.',
    }),
  }),
});

const WebhookNotice = builder.objectRef<{ webhookId: string; waiting: number }>('WebhookNotice').implement({
  description: 'A notice that messages of a webhook are waiting. Call `pullWebhookMessages` to get them.',
  fields: (t) => ({
    webhookId: t.exposeID('webhookId', { description: 'Identifier of the webhook.' }),
    waiting: t.exposeInt('waiting', {
      description: `Number of waiting messages, 1 or more. Counting stops at ${maxCountedWaiting}.`,
    }),
  }),
});

const webhookId = {
  required: true,
  description: "Identifier of a webhook with pull delivery, of a company in the key's scope.",
  validate: identifier,
} as const;

builder.mutationFields((t) => ({
  pullWebhookMessages: t.field({
    type: [WebhookMessage],
    permission: 'RECEIVE_WEBHOOKS',
    errors: ['CONFLICT'],
    complexity: { field: 1, multiplier: maxPulledMessages, itemsOf: pulledMessages },
    description: `Pulls messages of a webhook with pull delivery, oldest first. No other reader gets these messages until the lease ends. A message that is not acknowledged before the end of the lease becomes available again, and fails after ${retryDays} days. Large messages take several calls: repeat the call until the result is empty. \`CONFLICT\` when the webhook is disabled.`,
    args: {
      webhookId: t.arg.id(webhookId),
      first: t.arg.int({
        defaultValue: maxPulledMessages,
        description: `Maximum number of messages: 1 to ${maxPulledMessages}.`,
        validate: wholeNumber(1, maxPulledMessages).nullish(),
      }),
      leaseSeconds: t.arg.int({
        defaultValue: defaultLeaseSeconds,
        description: `Duration of the lease: ${minLeaseSeconds} to ${maxLeaseSeconds} seconds.`,
        validate: wholeNumber(minLeaseSeconds, maxLeaseSeconds).nullish(),
      }),
    },
    resolve: (_, { webhookId: id, first, leaseSeconds }, { key, services: { webhooks } }) =>
      webhooks.pull(key, id, {
        first: first ?? maxPulledMessages,
        leaseSeconds: leaseSeconds ?? defaultLeaseSeconds,
      }),
  }),
  acknowledgeWebhookMessages: t.int({
    permission: 'RECEIVE_WEBHOOKS',
    description:
      'Acknowledges pulled messages, so that they are not delivered again. This also works after the lease has ended. Returns how many messages this call acknowledged. Unknown messages and messages that were already acknowledged do not count.',
    args: {
      webhookId: t.arg.id(webhookId),
      ids: t.arg.idList({
        required: true,
        description: `Identifiers of the messages, at most ${maxPulledMessages}.`,
        validate: messageIds,
      }),
    },
    resolve: (_, { webhookId: id, ids }, { key, services: { webhooks } }) =>
      webhooks.acknowledge(key, id, ids),
  }),
}));

builder.subscriptionField('webhookMessagesWaiting', (t) =>
  t.field({
    type: WebhookNotice,
    permission: 'RECEIVE_WEBHOOKS',
    description:
      'Sends a notice when messages of a webhook with pull delivery wait. The first notice is sent at once if messages wait. Further notices follow within about a second after more messages arrive or a lease ends. The subscription ends when the webhook is deleted.',
    args: { webhookId: t.arg.id(webhookId) },
    subscribe: async (_, { webhookId: id }, { key, services: { webhooks, waitingMessages } }) => {
      await webhooks.findPulled(key, id);
      return waitingMessages.watch(id);
    },
    resolve: (waiting, { webhookId: id }) => ({ webhookId: id, waiting }),
  }),
);
