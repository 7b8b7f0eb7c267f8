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
 * The default duration of the lease that a client gets when it pulls webhook messages, in seconds. A client that pulls
 * webhook messages gets a lease on these messages. Until the lease of this client ends, no other client can pull these
 * messages.
 */
const defaultLeaseSeconds = 60;

/**
 * The cost of the field `body` of a webhook message. The field `body` of a pulled message costs little, because one SQL
 * statement reads the bodies of all messages of the request. A request for the maximum number of messages therefore
 * costs only one rate limit point.
 */
const bodyComplexity = 10;
/** The cost of the field `headers` of a webhook message. A webhook message has five headers. */
const headersComplexity = { field: 1, multiplier: 5, reads: false };

/**
 * Returns how many webhook messages a client requests with the argument `first`. From the returned number of messages,
 * the gateway computes the rate limit cost of the request. If `first` is out of range, the function returns 0 or
 * `maxPulledMessages`. The gateway computes the cost before it validates `first`, so the value of `first` may be
 * invalid in this function.
 */
const pulledMessages = ({ first }: Readonly<Record<string, unknown>>) =>
  typeof first === 'number' ? Math.min(Math.max(first, 0), maxPulledMessages) : maxPulledMessages;

const messageIds = z
  .array(identifier)
  .max(maxPulledMessages, `Must be at most ${maxPulledMessages} identifiers`);

const WebhookHeader = builder.objectRef<{ name: string; value: string }>('WebhookHeader').implement({
  description: 'One HTTP header of a webhook message.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the header, such as `webhook-signature`.' }),
    value: t.exposeString('value', { description: 'Value of the header.' }),
  }),
});

const WebhookMessage = builder.objectRef<PulledMessage>('WebhookMessage').implement({
  description:
    'A message of a webhook with pull delivery. If the webhook had push delivery, the gateway would post the same headers and the same body to the receiver. Until the lease of the message ends, no other client can pull the message.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description:
        'The `webhook-id` of the webhook message, which the client sends to `acknowledgeWebhookMessages`. If a client pulls the message again, the message has the same `webhook-id`.',
    }),
    event: t.exposeString('event', {
      description:
        'The name of the event that the webhook message reports, such as `whitelist.created`; `webhook.test` for a test message.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time of the event that the webhook message reports.',
    }),
    headers: t.field({
      type: [WebhookHeader],
      complexity: headersComplexity,
      description:
        'The HTTP headers that the gateway would send with the message if the webhook had push delivery: `Content-Type`, `User-Agent`, and the headers of Standard Webhooks with the signature.',
      resolve: ({ headers }) => Object.entries(headers).map(([name, value]) => ({ name, value })),
    }),
    body: t.exposeString('body', {
      complexity: bodyComplexity,
      description:
        'The body of the webhook message, which is a JSON object with the properties `type`, `timestamp` and `data`. The webhook signature covers exactly the bytes of the body.',
    }),
    leaseEndsAt: t.expose('leaseEndsAt', {
      type: 'DateTime',
      description:
        'The time at which the lease of the message ends. Acknowledge the message before its lease ends. After the end of the lease, another client can pull the message.',
    }),
  }),
});

const WebhookNotice = builder.objectRef<{ webhookId: string; waiting: number }>('WebhookNotice').implement({
  description:
    'Tells a client that messages of a webhook with pull delivery are waiting. Call `pullWebhookMessages` to get the messages.',
  fields: (t) => ({
    webhookId: t.exposeID('webhookId', { description: 'Identifier of the webhook.' }),
    waiting: t.exposeInt('waiting', {
      description: `Number of webhook messages that wait to be pulled, at least 1. Counting stops at ${maxCountedWaiting}.`,
    }),
  }),
});

const webhookId = {
  required: true,
  description:
    'Identifier of a webhook with pull delivery. The company of the webhook must be in the scope of the API key.',
  validate: identifier,
} as const;

builder.mutationFields((t) => ({
  pullWebhookMessages: t.field({
    type: [WebhookMessage],
    permission: 'RECEIVE_WEBHOOKS',
    errors: ['CONFLICT'],
    complexity: { field: 1, multiplier: pulledMessages },
    description: `Pulls messages of a webhook with pull delivery, oldest first. No other client can pull the same messages until the lease of this client ends. If the client does not acknowledge a message before its lease ends, clients can pull this message again. If no client acknowledges a message within ${retryDays} days, its delivery gets the status \`FAILED\`. If the messages are large, one call may return fewer messages than \`first\`: repeat the call until the result is empty. Fails with \`CONFLICT\` when the webhook is disabled.`,
    args: {
      webhookId: t.arg.id(webhookId),
      first: t.arg.int({
        defaultValue: maxPulledMessages,
        description: `Maximum number of webhook messages in the response: 1 to ${maxPulledMessages}.`,
        validate: wholeNumber(1, maxPulledMessages).nullish(),
      }),
      leaseSeconds: t.arg.int({
        defaultValue: defaultLeaseSeconds,
        description: `Duration of the client's lease on the messages: ${minLeaseSeconds} to ${maxLeaseSeconds} seconds.`,
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
      'Acknowledges pulled webhook messages, so that no client gets them again. A client can acknowledge a message even after its lease has ended. Returns the number of messages that this call acknowledged. This number does not include unknown messages and messages that were already acknowledged.',
    args: {
      webhookId: t.arg.id(webhookId),
      ids: t.arg.idList({
        required: true,
        description: `Identifiers of the webhook messages, at most ${maxPulledMessages}.`,
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
      'Sends a notice when messages of a webhook with pull delivery wait to be pulled. If messages already wait, the gateway sends the first notice immediately. When more messages arrive or a lease ends, the gateway sends another notice within about a second. The subscription ends when the webhook is deleted.',
    args: { webhookId: t.arg.id(webhookId) },
    subscribe: async (_, { webhookId: id }, { key, services: { webhooks, waitingMessages } }) => {
      await webhooks.findPulled(key, id);
      return waitingMessages.watch(id);
    },
    resolve: (waiting, { webhookId: id }) => ({ webhookId: id, waiting }),
  }),
);
