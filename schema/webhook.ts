import { z } from 'zod';
import { WebhookDeliveryKind as kinds } from '../prisma/generated/client/enums.ts';
import { auditActions, enumName, mayReadChanges, webhookEvents } from '../src/audit/actions.ts';
import { defaultGraceSeconds, maxGraceSeconds } from '../src/auth/grace-period.ts';
import { retryDays } from '../src/webhooks/outbox.ts';
import { maxWebhooks } from '../src/webhooks/requirements.ts';
import { disableAfterFailingDays } from '../src/webhooks/attempt-outcome.ts';
import { ApiKey } from './api-key.ts';
import { builder } from './builder.ts';
import { keysetConnection } from './pagination.ts';
import { identifier, urlText, wholeNumber } from './rules.ts';

const maxLocationIds = 100;

const maxUrlLength = 2000;
const url = urlText(maxUrlLength);
const events = z
  .array(z.enum(webhookEvents, 'Must be an event, such as WHITELIST_CREATED'))
  .min(1, 'At least one event is required');
const locationIds = z.array(identifier).max(maxLocationIds, `Must be at most ${maxLocationIds} ids`);

const createWebhookRule = z.object({
  delivery: z.enum(kinds).nullish(),
  url: url.nullish(),
  events,
  companyId: identifier.nullish(),
  locationIds: locationIds.nullish(),
});

const updateWebhookRule = z
  .object({
    url: url.nullish(),
    events: events.nullish(),
    locationIds: locationIds.nullish(),
    enabled: z.boolean().nullish(),
  })
  .refine(
    (fields) => Object.values(fields).some((value) => value !== null && value !== undefined),
    'At least one field to change is required',
  );

/** An event that a webhook can report. */
export const WebhookEvent = builder.enumType('WebhookEvent', {
  description: 'An event to which a webhook can subscribe.',
  values: Object.fromEntries(
    webhookEvents.map((event) => {
      const { description, readPermission } = auditActions[event];
      return [
        enumName(event),
        { value: event, description: `\`${event}\`: ${description} Needs the permission ${readPermission}.` },
      ];
    }),
  ),
});

const WebhookDeliveryKind = builder.enumType(kinds, {
  name: 'WebhookDeliveryKind',
  description: 'How a receiver gets webhook messages.',
  values: {
    PUSH: { description: 'The gateway posts each message to the URL of the webhook.' },
    PULL: {
      description:
        'The receiver gets messages with `pullWebhookMessages`, and acknowledges them with `acknowledgeWebhookMessages`. Use `PULL` for a receiver without a public address.',
    },
  },
});

export const Webhook = builder.prismaObject('Webhook', {
  description: `A webhook subscribes a receiver to the events of a company. The gateway signs each message as the specification Standard Webhooks describes. If the receiver does not accept a message, the gateway sends the message again, for at most ${retryDays} days.`,
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the webhook.' }),
    companyId: t.exposeID('companyId', {
      nullable: true,
      description:
        "The company whose events the webhook receives. `companyId` is null for an operator's webhook, which receives the events of every company.",
    }),
    delivery: t.expose('delivery', {
      type: WebhookDeliveryKind,
      description: 'How the receiver gets webhook messages.',
    }),
    url: t.exposeString('url', {
      nullable: true,
      description: 'The URL to which the gateway posts messages; null for pull delivery.',
    }),
    events: t.field({
      type: [WebhookEvent],
      description: 'The events to which the webhook is subscribed.',
      resolve: (webhook) => webhookEvents.filter((event) => webhook.events.includes(event)),
    }),
    locationIds: t.exposeIDList('locationIds', {
      description:
        'The locations whose events the webhook receives. If `locationIds` is empty, the webhook receives the events of all locations.',
    }),
    enabled: t.boolean({
      description: 'Whether the gateway delivers messages to the receiver.',
      resolve: ({ disabledAt }) => disabledAt === null,
    }),
    disabledAt: t.expose('disabledAt', {
      type: 'DateTime',
      nullable: true,
      description: `The time at which the webhook was disabled. A client can disable a webhook. The gateway disables a webhook when its receiver answers 410 Gone, or accepts no message for ${disableAfterFailingDays} days. \`disabledAt\` is null while the webhook is enabled.`,
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the current series of failed attempts to deliver messages began; null when the last attempt succeeded.',
    }),
    formerSecretEndsAt: t.expose('formerSecretEndsAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time until which webhook messages also have a signature with the previous secret.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time at which the webhook was created.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'The time at which the webhook last changed.',
    }),
  }),
});

builder.objectField(ApiKey, 'webhookEvents', (t) =>
  t.field({
    type: [WebhookEvent],
    description:
      'The webhook events that the API key has permission to read. A client can subscribe a webhook only to events that its API key may read.',
    resolve: ({ permissions }) => {
      const held = new Set(permissions);
      return webhookEvents.filter((event) => mayReadChanges(held, event));
    },
  }),
);

const IssuedWebhook = builder
  .objectRef<{ secret: string; webhook: typeof Webhook.$inferType }>('IssuedWebhook')
  .implement({
    description: 'A webhook with its new secret, which the gateway shows only in this response.',
    fields: (t) => ({
      secret: t.exposeString('secret', {
        description:
          'The secret: the prefix `whsec_` and a base64 text. Libraries for Standard Webhooks use the secret to verify webhook messages.',
      }),
      webhook: t.expose('webhook', { type: Webhook, description: 'The webhook.' }),
    }),
  });

const WebhookConnection = builder.connectionObject(
  { type: Webhook, name: 'WebhookConnection', description: 'A page of webhooks.' },
  { name: 'WebhookEdge', description: 'A webhook, and its cursor in the list of webhooks.' },
);

/** The options of a GraphQL argument that contains the id of a webhook. */
export const webhookIdArg = {
  required: true,
  description: 'Identifier of the webhook.',
  validate: identifier,
} as const;

builder.queryFields((t) => ({
  webhooks: t.connection(
    {
      type: Webhook,
      permission: 'MANAGE_WEBHOOKS',
      description: 'The webhooks of the companies in the scope of the API key, oldest first.',
      resolve: (_, args, { key, services: { webhooks } }) => keysetConnection(args, webhooks.list(key)),
    },
    WebhookConnection,
  ),
  webhook: t.field({
    type: Webhook,
    permission: 'MANAGE_WEBHOOKS',
    description: 'One webhook.',
    args: { id: t.arg.id(webhookIdArg) },
    resolve: (_, { id }, { key, services: { webhooks } }) => webhooks.find(key, id),
  }),
}));

const urlDescription = `An https URL on the public Internet, at most ${maxUrlLength} characters, without user name and password.`;
const locationIdsDescription = `The locations of the company whose events the webhook receives, at most ${maxLocationIds}. If this list is empty, the webhook receives the events of all locations. The webhook always receives events that belong to no location.`;

const CreateWebhookInput = builder.inputType('CreateWebhookInput', {
  description: 'The values of a new webhook.',
  fields: (t) => ({
    delivery: t.field({
      type: WebhookDeliveryKind,
      defaultValue: 'PUSH',
      description: 'How the receiver gets webhook messages.',
    }),
    url: t.string({
      description: `Required for push delivery, not allowed for pull delivery. ${urlDescription}`,
    }),
    events: t.field({
      type: [WebhookEvent],
      required: true,
      description:
        'The events that the receiver gets. Fails with `FORBIDDEN` unless the API key may read all of the given events.',
    }),
    companyId: t.id({
      description:
        "The company that owns the webhook. You can omit `companyId` when exactly one company is in the scope of the API key. If a client with an operator's key omits `companyId`, the webhook receives the events of every company.",
    }),
    locationIds: t.idList({ description: locationIdsDescription }),
  }),
});

const UpdateWebhookInput = builder.inputType('UpdateWebhookInput', {
  description:
    'The new values for some fields of a webhook. Omitted fields are unchanged. If the API key may not read all events of the webhook, a client can only disable the webhook or replace its events. A client can change the URL only if its API key also has permission to read the messages that still wait for delivery.',
  fields: (t) => ({
    url: t.string({ description: `Not allowed for pull delivery. ${urlDescription}` }),
    events: t.field({
      type: [WebhookEvent],
      description:
        'The new list of events that the webhook reports to its receiver. The new list replaces the former list, so the webhook no longer reports events that only the former list contains.',
    }),
    locationIds: t.idList({ description: locationIdsDescription }),
    enabled: t.boolean({
      description:
        'Whether the gateway delivers messages to the receiver. When a client disables a webhook, the gateway cancels the deliveries of all waiting messages. The receiver never gets a message about an event that happened while the webhook was disabled.',
    }),
  }),
});

builder.mutationFields((t) => ({
  createWebhook: t.field({
    type: IssuedWebhook,
    permission: 'MANAGE_WEBHOOKS',
    description: `Creates a webhook and shows its secret. A company can have at most ${maxWebhooks} webhooks.`,
    args: {
      input: t.arg({
        type: CreateWebhookInput,
        required: true,
        description: 'The webhook.',
        validate: createWebhookRule,
      }),
    },
    resolve: (_, { input }, context) => context.services.webhooks.create(context, input),
  }),
  updateWebhook: t.field({
    type: Webhook,
    permission: 'MANAGE_WEBHOOKS',
    description: 'Changes the given fields of a webhook.',
    args: {
      id: t.arg.id(webhookIdArg),
      input: t.arg({
        type: UpdateWebhookInput,
        required: true,
        description: 'The changes.',
        validate: updateWebhookRule,
      }),
    },
    resolve: (_, { id, input }, context) => context.services.webhooks.update(context, id, input),
  }),
  deleteWebhook: t.field({
    type: Webhook,
    permission: 'MANAGE_WEBHOOKS',
    description: 'Removes a webhook and its deliveries. Returns the webhook as it was before its removal.',
    args: { id: t.arg.id(webhookIdArg) },
    resolve: (_, { id }, context) => context.services.webhooks.remove(context, id),
  }),
  rotateWebhookSecret: t.field({
    type: IssuedWebhook,
    permission: 'MANAGE_WEBHOOKS',
    description:
      'Issues a new secret for a webhook. During a grace period, each message is signed with both secrets, the new and the former one, so that receivers can switch to the new secret. The gateway keeps only one former secret, so a second rotation within the grace period discards the oldest secret.',
    args: {
      id: t.arg.id(webhookIdArg),
      graceSeconds: t.arg.int({
        description: `The time for which the gateway also signs messages with the former secret: 0 to ${maxGraceSeconds} seconds. Default: ${defaultGraceSeconds} (one day).`,
        validate: wholeNumber(0, maxGraceSeconds).nullish(),
      }),
    },
    resolve: (_, { id, graceSeconds }, context) =>
      context.services.webhooks.rotateSecret(context, id, graceSeconds ?? undefined),
  }),
}));
