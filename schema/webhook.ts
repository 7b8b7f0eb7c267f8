import { z } from 'zod';
import { auditActions, enumName, webhookEvents } from '../src/audit/actions.ts';
import { defaultGraceSeconds, maxGraceSeconds } from '../src/auth/grace-period.ts';
import { retryDays } from '../src/webhooks/outbox.ts';
import { maxWebhooks } from '../src/webhooks/requirements.ts';
import { disableAfterFailingDays } from '../src/webhooks/settle.ts';
import { builder } from './builder.ts';
import { keysetConnection } from './pagination.ts';
import { text, wholeNumber } from './rules.ts';

const maxLocationIds = 100;

const url = text(2000);
const events = z.array(z.enum(webhookEvents)).min(1, 'At least one event is required');
const locationIds = z.array(z.string()).max(maxLocationIds, `Must be at most ${maxLocationIds} ids`);

const createWebhookRule = z.object({
  url,
  events,
  companyId: z.string().nullish(),
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

const WebhookEvent = builder.enumType('WebhookEvent', {
  description: 'A change that a webhook can wait for.',
  values: Object.fromEntries(
    webhookEvents.map((event) => {
      const { description, readPermission } = auditActions[event];
      return [
        enumName(event),
        { value: event, description: `\`${event}\`: ${description} Needs ${readPermission}.` },
      ];
    }),
  ),
});

export const Webhook = builder.prismaObject('Webhook', {
  description: `Where a company wants to hear of changes. Messages are signed (Standard Webhooks) and sent until the receiver accepts them, for ${retryDays} days.`,
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the webhook.' }),
    companyId: t.exposeID('companyId', {
      nullable: true,
      description:
        "The company whose changes it hears of; null for an operator's webhook, which hears of every company.",
    }),
    url: t.exposeString('url', { description: 'Where messages are posted.' }),
    events: t.field({
      type: [WebhookEvent],
      description: 'The changes that it waits for.',
      resolve: (webhook) => webhookEvents.filter((event) => webhook.events.includes(event)),
    }),
    locationIds: t.exposeIDList('locationIds', {
      description: 'It hears only of these locations; of all when the list is empty.',
    }),
    enabled: t.boolean({
      description: 'Whether messages are sent.',
      resolve: ({ disabledAt }) => disabledAt === null,
    }),
    disabledAt: t.expose('disabledAt', {
      type: 'DateTime',
      nullable: true,
      description: `When it was disabled: by a client, because the receiver answered 410 Gone, or because it accepted nothing for ${disableAfterFailingDays} days.`,
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'The first failed attempt since the receiver last accepted a message; null while it accepts them.',
    }),
    formerSecretEndsAt: t.expose('formerSecretEndsAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when the secret before the last rotation signs too.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the webhook was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the webhook last changed.' }),
  }),
});

const IssuedWebhook = builder
  .objectRef<{ secret: string; webhook: typeof Webhook.$inferType }>('IssuedWebhook')
  .implement({
    description: 'A webhook with its new secret, which is shown only this once.',
    fields: (t) => ({
      secret: t.exposeString('secret', {
        description: '`whsec_` and base64: what libraries of Standard Webhooks verify messages with.',
      }),
      webhook: t.expose('webhook', { type: Webhook, description: 'The webhook.' }),
    }),
  });

const WebhookConnection = builder.connectionObject(
  { type: Webhook, name: 'WebhookConnection', description: 'A page of webhooks.' },
  { name: 'WebhookEdge', description: 'A webhook and its place in the list.' },
);

const idArg = { required: true, description: 'Identifier of the webhook.' } as const;

builder.queryFields((t) => ({
  webhooks: t.connection(
    {
      type: Webhook,
      permission: 'MANAGE_WEBHOOKS',
      description: 'The webhooks of the companies that the key is tied to, oldest first.',
      resolve: (_, args, { key, webhooks }) => keysetConnection(args, webhooks.list(key)),
    },
    WebhookConnection,
  ),
  webhook: t.field({
    type: Webhook,
    permission: 'MANAGE_WEBHOOKS',
    description: 'One webhook.',
    args: { id: t.arg.id(idArg) },
    resolve: (_, { id }, { key, webhooks }) => webhooks.find(key, id),
  }),
}));

const urlDescription =
  'An https address of the public Internet, at most 2000 characters, without user name and password.';
const locationIdsDescription = `Hear only of these locations of the company, at most ${maxLocationIds}; empty for all. Events that belong to no location are sent in any case.`;

const CreateWebhookInput = builder.inputType('CreateWebhookInput', {
  description: 'A webhook to create.',
  fields: (t) => ({
    url: t.string({ required: true, description: urlDescription }),
    events: t.field({
      type: [WebhookEvent],
      required: true,
      description: 'The changes to wait for. `FORBIDDEN` for one that the key has no permission to read.',
    }),
    companyId: t.id({
      description:
        "The company; may be left out when the key is tied to exactly one. With an operator's key the webhook then hears of every company.",
    }),
    locationIds: t.idList({ description: locationIdsDescription }),
  }),
});

const UpdateWebhookInput = builder.inputType('UpdateWebhookInput', {
  description:
    'What to change of a webhook; what is left out stays as it is. A key that may not read the events of the webhook can only disable it.',
  fields: (t) => ({
    url: t.string({ description: urlDescription }),
    events: t.field({
      type: [WebhookEvent],
      description: 'The changes to wait for, in place of the former.',
    }),
    locationIds: t.idList({ description: locationIdsDescription }),
    enabled: t.boolean({
      description:
        'Whether to send messages. Disabling cancels the deliveries that wait; the webhook hears nothing of changes made while it is disabled.',
    }),
  }),
});

builder.mutationFields((t) => ({
  createWebhook: t.field({
    type: IssuedWebhook,
    permission: 'MANAGE_WEBHOOKS',
    description: `Creates a webhook and shows its secret. A company can have ${maxWebhooks}.`,
    args: {
      input: t.arg({
        type: CreateWebhookInput,
        required: true,
        description: 'The webhook.',
        validate: createWebhookRule,
      }),
    },
    resolve: (_, { input }, context) => context.webhooks.create(context, input),
  }),
  updateWebhook: t.field({
    type: Webhook,
    permission: 'MANAGE_WEBHOOKS',
    description: 'Changes the fields that are sent.',
    args: {
      id: t.arg.id(idArg),
      input: t.arg({
        type: UpdateWebhookInput,
        required: true,
        description: 'What to change.',
        validate: updateWebhookRule,
      }),
    },
    resolve: (_, { id, input }, context) => context.webhooks.update(context, id, input),
  }),
  deleteWebhook: t.field({
    type: Webhook,
    permission: 'MANAGE_WEBHOOKS',
    description: 'Removes a webhook with its deliveries and returns it as it was.',
    args: { id: t.arg.id(idArg) },
    resolve: (_, { id }, context) => context.webhooks.remove(context, id),
  }),
  rotateWebhookSecret: t.field({
    type: IssuedWebhook,
    permission: 'MANAGE_WEBHOOKS',
    description:
      'Issues a new secret. For a grace period messages carry a signature by each, so that receivers can change over.',
    args: {
      id: t.arg.id(idArg),
      graceSeconds: t.arg.int({
        description: `How long the former secret signs too: 0 to ${maxGraceSeconds} seconds; ${defaultGraceSeconds} (one day) when left out.`,
        validate: wholeNumber(0, maxGraceSeconds).nullish(),
      }),
    },
    resolve: (_, { id, graceSeconds }, context) =>
      context.webhooks.rotateSecret(context, id, graceSeconds ?? undefined),
  }),
}));
