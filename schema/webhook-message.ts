import { z } from 'zod';
import { retryDays } from '../src/webhooks/outbox.ts';
import {
  maxLeaseSeconds,
  maxPulledMessages,
  minLeaseSeconds,
  type PulledMessage,
} from '../src/webhooks/pull.ts';
import { maxCountedWaiting } from '../src/webhooks/statements.ts';
import { builder } from './builder.ts';
import { identifier, wholeNumber } from './rules.ts';

/**
 * The default length of the lease of webhook messages, in seconds. A reader that pulls webhook messages gets a lease on
 * these messages. Until the lease ends, no other reader gets the messages.
 */
const defaultLeaseSeconds = 60;

/**
 * The cost of the field `body` of a webhook message. The field `body` costs little, because one SQL statement reads the
 * bodies of all messages. Even a request for the maximum number of messages costs only one rate limit point.
 */
const bodyComplexity = 10;
/** The cost of the field `headers` of a webhook message, which has five headers. */
const headersComplexity = { field: 1, multiplier: 5, reads: false };

/**
 * Returns how many messages the client requests, for the computation of the cost. The gateway computes the cost before
 * it validates `first`. For a value of `first` that is out of range, the function therefore returns 0 or
 * `maxPulledMessages`.
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
    'A message of a webhook with pull delivery. The headers and the body are the same as those that push delivery would post to the receiver. Until the lease of the message ends, no other reader gets the message.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description:
        'The `webhook-id` of the message, for `acknowledgeWebhookMessages`. A message that is pulled again has the same `webhook-id`.',
    }),
    event: t.exposeString('event', {
      description: 'The name of the event, such as `whitelist.created`; `webhook.test` for a test message.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time at which the event happened.',
    }),
    headers: t.field({
      type: [WebhookHeader],
      complexity: headersComplexity,
      description:
        'The HTTP headers that push delivery would send with the message: `Content-Type`, `User-Agent`, and the headers of Standard Webhooks with the signature.',
      resolve: ({ headers }) => Object.entries(headers).map(([name, value]) => ({ name, value })),
    }),
    body: t.exposeString('body', {
      complexity: bodyComplexity,
      description:
        'The body: JSON with `type`, `timestamp` and `data`. The webhook signature covers exactly the bytes of the body.',
    }),
    leaseEndsAt: t.expose('leaseEndsAt', {
      type: 'DateTime',
      description:
        'The time at which the lease ends, until which no other reader gets the message. Acknowledge the message before the lease ends.',
    }),
  }),
});

const WebhookNotice = builder.objectRef<{ webhookId: string; waiting: number }>('WebhookNotice').implement({
  description:
    'A notice that messages of a webhook wait for a reader. Call `pullWebhookMessages` to get the messages.',
  fields: (t) => ({
    webhookId: t.exposeID('webhookId', { description: 'Identifier of the webhook.' }),
    waiting: t.exposeInt('waiting', {
      description: `Number of waiting messages, 1 or more. Counting stops at ${maxCountedWaiting}.`,
    }),
  }),
});

const webhookId = {
  required: true,
  description:
    "Identifier of a webhook with pull delivery. The webhook's company must be in the key's scope.",
  validate: identifier,
} as const;

builder.mutationFields((t) => ({
  pullWebhookMessages: t.field({
    type: [WebhookMessage],
    permission: 'RECEIVE_WEBHOOKS',
    errors: ['CONFLICT'],
    complexity: { field: 1, multiplier: maxPulledMessages, itemsOf: pulledMessages },
    description: `Pulls messages of a webhook with pull delivery, oldest first. No other reader gets these messages until the lease ends. A message that is not acknowledged before the end of the lease becomes available again, and fails after ${retryDays} days. One call may return fewer messages if the messages are large: repeat the call until the result is empty. \`CONFLICT\` when the webhook is disabled.`,
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
      'Acknowledges pulled messages, so that they are not delivered again. A reader can acknowledge a message even after its lease has ended. Returns how many messages this call acknowledged. The number does not include unknown messages, or messages that a reader had already acknowledged.',
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
      'Sends a notice when messages wait in a webhook with pull delivery. If messages already wait, the gateway sends the first notice immediately. When more messages arrive or a lease ends, the gateway sends another notice within about a second. The subscription ends when the webhook is deleted.',
    args: { webhookId: t.arg.id(webhookId) },
    subscribe: async (_, { webhookId: id }, { key, services: { webhooks, waitingMessages } }) => {
      await webhooks.findPulled(key, id);
      return waitingMessages.watch(id);
    },
    resolve: (waiting, { webhookId: id }) => ({ webhookId: id, waiting }),
  }),
);
