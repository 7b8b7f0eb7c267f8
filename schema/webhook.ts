import { z } from 'zod';
import { recordChange, type Transaction } from '../src/audit.ts';
import type { Context } from '../src/context.ts';
import { invalidField, ServiceError, shown } from '../src/errors.ts';
import { isId, newId } from '../src/ids.ts';
import { webhookScope } from '../src/scope.ts';
import { webhookEvents } from '../src/webhook-message.ts';
import { newWebhookSecret } from '../src/webhook-secret.ts';
import { cancelPending, disableWebhook } from '../src/webhook-outbox.ts';
import { builder } from './builder.ts';
import { owningCompany } from './location.ts';
import { idOrder, idWhere, keysetConnection } from './pagination.ts';
import { text, wholeNumber } from './rules.ts';

/** How long a replaced secret still signs when the client says nothing: one day. */
const defaultGraceSeconds = 86_400;
const longestGraceSeconds = 30 * 86_400;

/** Each change is a message to each of them, and the outbox is looked through for each of them. */
const mostWebhooks = 20;

const url = text(2000);
const events = z.array(z.enum(webhookEvents)).min(1, 'At least one event is required');

const createWebhookRule = z.object({ url, events, companyId: z.string().nullish() });

const updateWebhookRule = z
  .object({ url: url.nullish(), events: events.nullish(), enabled: z.boolean().nullish() })
  .refine(
    (fields) => Object.values(fields).some((value) => value !== null && value !== undefined),
    'At least one field to change is required',
  );

const eventDescriptions: Record<(typeof webhookEvents)[number], string> = {
  'company.registered': "A company was registered; only for an operator's webhook.",
  'location.created': 'A location was created.',
  'location.updated': 'A location was changed.',
  'whitelist.created': 'A vehicle was added.',
  'whitelist.updated': 'An entry was replaced.',
  'whitelist.deleted': 'A vehicle was removed.',
  'whitelist.imported': 'An import changed a whitelist; says how many entries.',
  'parking.entered': 'A vehicle entered, or such a reading was corrected.',
  'parking.exited': 'A vehicle left, or such a reading was corrected.',
  'location.full': 'The last place of a location was taken.',
  'location.available': 'A full location has room again.',
};

const WebhookEvent = builder.enumType('WebhookEvent', {
  description: 'A change that a webhook can wait for.',
  values: Object.fromEntries(
    webhookEvents.map((event) => [
      event.toUpperCase().replace('.', '_'),
      { value: event, description: `\`${event}\`: ${eventDescriptions[event]}` },
    ]),
  ),
});

export const Webhook = builder.prismaObject('Webhook', {
  description:
    'Where a company wants to hear of changes. Messages are signed (Standard Webhooks) and sent until they are taken, for 3 days.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the webhook.' }),
    companyId: t.exposeID('companyId', {
      nullable: true,
      description: "The company whose changes it hears of; null for an operator's, which hears of all.",
    }),
    url: t.exposeString('url', { description: 'Where messages are posted.' }),
    events: t.field({
      type: [WebhookEvent],
      description: 'The changes that it waits for.',
      resolve: (webhook) => webhookEvents.filter((event) => webhook.events.includes(event)),
    }),
    enabled: t.boolean({
      description: 'Whether messages are sent.',
      resolve: ({ disabledAt }) => disabledAt === null,
    }),
    disabledAt: t.expose('disabledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was disabled, by a client or because the receiver answered 410 Gone.',
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

/**
 * The webhook of an id that a client sent.
 *
 * @throws {ServiceError} `NOT_FOUND` for an unknown one and for one out of the key's reach
 */
export async function findWebhook(id: string, { key, prisma }: Context) {
  const webhook = isId(id)
    ? await prisma.webhook.findFirst({ where: { AND: [{ id }, webhookScope(key)] } })
    : null;
  if (!webhook) throw new ServiceError('NOT_FOUND', 'Webhook not found', { field: 'id', value: shown(id) });
  return webhook;
}

const idArg = { required: true, description: 'Identifier of the webhook.' } as const;

builder.queryFields((t) => ({
  webhooks: t.connection(
    {
      type: Webhook,
      permission: 'MANAGE_WEBHOOKS',
      description: 'The webhooks of the companies that the key is tied to, oldest first.',
      resolve: (_, args, { key, prisma }) => {
        const where = webhookScope(key);
        return keysetConnection(
          args,
          (page) => prisma.webhook.findMany({ where: { AND: [where, idWhere(page)] }, ...idOrder(page) }),
          () => prisma.webhook.count({ where }),
        );
      },
    },
    WebhookConnection,
  ),
  webhook: t.field({
    type: Webhook,
    permission: 'MANAGE_WEBHOOKS',
    description: 'One webhook.',
    args: { id: t.arg.id(idArg) },
    resolve: (_, { id }, context) => findWebhook(id, context),
  }),
}));

const urlDescription =
  'An https address of the public Internet, at most 2000 characters, without user name and password.';

const CreateWebhookInput = builder.inputType('CreateWebhookInput', {
  description: 'A webhook to create.',
  fields: (t) => ({
    url: t.string({ required: true, description: urlDescription }),
    events: t.field({ type: [WebhookEvent], required: true, description: 'The changes to wait for.' }),
    companyId: t.id({
      description:
        "The company; may be left out when the key is tied to exactly one. With an operator's key the webhook then hears of every company.",
    }),
  }),
});

const UpdateWebhookInput = builder.inputType('UpdateWebhookInput', {
  description: 'What to change of a webhook; what is left out stays as it is.',
  fields: (t) => ({
    url: t.string({ description: urlDescription }),
    events: t.field({
      type: [WebhookEvent],
      description: 'The changes to wait for, in place of the former.',
    }),
    enabled: t.boolean({
      description: 'Whether to send messages. Disabling cancels what waits; changes meanwhile are not kept.',
    }),
  }),
});

/** What the audit log says of a webhook: nothing of its secrets. */
const audited = ({ id, companyId, url: address, events: waited, disabledAt }: typeof Webhook.$inferType) => ({
  id,
  companyId,
  url: address,
  events: waited,
  disabledAt,
});

async function requireTarget(address: string, { webhookTarget }: Context): Promise<void> {
  const fault = await webhookTarget.fault(address);
  if (fault) throw invalidField('url', fault, address);
}

/** Refuses one webhook too many; those who create for one company at once follow each other from here on. */
async function requireRoom(transaction: Transaction, companyId: string | null): Promise<void> {
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`webhooks of ${companyId}`}, 0))`;
  const count = await transaction.webhook.count({ where: { companyId } });
  if (count >= mostWebhooks)
    throw invalidField('companyId', `There are ${mostWebhooks} webhooks, which is the most`, companyId);
}

builder.mutationFields((t) => ({
  createWebhook: t.field({
    type: IssuedWebhook,
    permission: 'MANAGE_WEBHOOKS',
    description: `Creates a webhook and shows its secret. A company has ${mostWebhooks} at most.`,
    args: {
      input: t.arg({
        type: CreateWebhookInput,
        required: true,
        description: 'The webhook.',
        validate: createWebhookRule,
      }),
    },
    resolve: async (_, { input }, context) => {
      const companyId =
        context.key.unrestricted && !input.companyId
          ? null
          : await owningCompany(input.companyId, 'webhooks', context);
      await requireTarget(input.url, context);
      const id = newId();
      const secret = newWebhookSecret();
      const webhook = await context.prisma.$transaction(async (transaction) => {
        await requireRoom(transaction, companyId);
        const created = await transaction.webhook.create({
          data: {
            id,
            companyId,
            url: input.url,
            events: [...new Set(input.events)],
            secret: context.webhookSecrets.seal(id, secret),
          },
        });
        await recordChange(transaction, context, {
          action: 'webhook.created',
          targetId: id,
          companyId,
          changes: audited(created),
        });
        return created;
      });
      return { secret, webhook };
    },
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
    resolve: async (_, { id, input }, context) => {
      const before = await findWebhook(id, context);
      if (input.url) await requireTarget(input.url, context);
      return context.prisma.$transaction(async (transaction) => {
        if (input.enabled === false) await disableWebhook(transaction, id);
        // What a change left behind while the webhook was being disabled.
        if (input.enabled && before.disabledAt) await cancelPending(transaction, id);
        const after = await transaction.webhook.update({
          where: { id },
          data: {
            url: input.url ?? undefined,
            events: input.events ? [...new Set(input.events)] : undefined,
            disabledAt: input.enabled ? null : undefined,
            updatedAt: new Date(),
          },
        });
        await recordChange(transaction, context, {
          action: 'webhook.updated',
          targetId: id,
          companyId: after.companyId,
          changes: { before: audited(before), after: audited(after) },
        });
        return after;
      });
    },
  }),
  deleteWebhook: t.field({
    type: Webhook,
    permission: 'MANAGE_WEBHOOKS',
    description: 'Removes a webhook with its deliveries and returns it as it was.',
    args: { id: t.arg.id(idArg) },
    resolve: async (_, { id }, context) => {
      const webhook = await findWebhook(id, context);
      // First it hears of nothing more: a long history takes its time to go, and no change waits for that.
      await context.prisma.$transaction((transaction) => disableWebhook(transaction, id));
      await context.prisma.$transaction(async (transaction) => {
        await transaction.webhook.deleteMany({ where: { id } });
        await recordChange(transaction, context, {
          action: 'webhook.deleted',
          targetId: id,
          companyId: webhook.companyId,
          changes: audited(webhook),
        });
      });
      return webhook;
    },
  }),
  rotateWebhookSecret: t.field({
    type: IssuedWebhook,
    permission: 'MANAGE_WEBHOOKS',
    description:
      'Issues a new secret. For a grace period messages carry a signature by each, so that receivers can change over.',
    args: {
      id: t.arg.id(idArg),
      graceSeconds: t.arg.int({
        description:
          'How long the former secret signs too: 0 to 2592000 seconds; 86400 (one day) when left out.',
        validate: wholeNumber(0, longestGraceSeconds).nullish(),
      }),
    },
    resolve: async (_, { id, graceSeconds }, context) => {
      await findWebhook(id, context);
      const secret = newWebhookSecret();
      const formerSecretEndsAt = new Date(Date.now() + (graceSeconds ?? defaultGraceSeconds) * 1000);
      const webhook = await context.prisma.$transaction(async (transaction) => {
        // The row lock of this update makes two rotations at once follow each other.
        const former = await transaction.webhook.update({ where: { id }, data: { updatedAt: new Date() } });
        const rotated = await transaction.webhook.update({
          where: { id },
          data: {
            secret: context.webhookSecrets.seal(id, secret),
            formerSecret: former.secret,
            formerSecretEndsAt,
          },
        });
        await recordChange(transaction, context, {
          action: 'webhook.rotated',
          targetId: id,
          companyId: rotated.companyId,
          changes: { formerSecretEndsAt },
        });
        return rotated;
      });
      return { secret, webhook };
    },
  }),
}));
