import { z } from 'zod';
import { newSecret, secretHint } from '../src/api-key-format.ts';
import { recordChange } from '../src/audit.ts';
import type { Context } from '../src/context.ts';
import { companyForbidden, locationNotFound, ServiceError, shown } from '../src/errors.ts';
import { isId, newId } from '../src/ids.ts';
import { apiKeyScope, companyScope, locationScope } from '../src/scope.ts';
import { Permission as permissions } from '../prisma/generated/client/enums.ts';
import { builder } from './builder.ts';
import { idOrder, idWhere, keysetConnection } from './pagination.ts';
import { filledText, instant, wholeNumber } from './rules.ts';

const Permission = builder.enumType(permissions, {
  name: 'Permission',
  description: 'What a key may do.',
  values: {
    REGISTER_COMPANIES: { description: 'Register companies.' },
    READ_COMPANIES: { description: 'Read companies.' },
    READ_LOCATIONS: { description: 'Read locations.' },
    WRITE_LOCATIONS: { description: 'Create and change locations.' },
    READ_WHITELIST: { description: 'Read whitelists and ask whether a plate may enter.' },
    WRITE_WHITELIST: { description: 'Create, change, delete and import whitelist entries.' },
    READ_STATUS: { description: 'Read how full locations are.' },
    READ_ACTIVITY: { description: 'Read parking events and sessions.' },
    WRITE_ACTIVITY: { description: 'Record parking events.' },
    MANAGE_WEBHOOKS: { description: 'Manage the webhooks of a company.' },
    ADMIN: { description: 'Manage keys and read the audit log.' },
  },
});

/** How long a replaced secret still works when the client says nothing: one day. */
const defaultGraceSeconds = 86_400;
const longestGraceSeconds = 30 * 86_400;

const ids = z.array(z.string()).max(1000, 'Must be at most 1000 ids');

const createApiKeyRule = z.object({
  name: filledText(100, 'Key name is required'),
  permissions: z.array(z.enum(permissions)).min(1, 'At least one permission is required'),
  companyIds: ids.nullish(),
  locationIds: ids.nullish(),
  hourlyLimit: wholeNumber(1, 10_000_000).nullish(),
  burstLimit: wholeNumber(1, 10_000_000).nullish(),
  expiresAt: instant.refine((value) => value.getTime() > Date.now(), 'Must be in the future').nullish(),
});

export const ApiKey = builder.prismaObject('ApiKey', {
  description:
    'A key of the service: what its holder may do, where, and how often. Its secret is shown only once.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'Identifier of the key; stays the same when the secret is rotated.',
    }),
    name: t.exposeString('name', { description: 'What people call the key.' }),
    permissions: t.expose('permissions', { type: [Permission], description: 'What the key may do.' }),
    unrestricted: t.exposeBoolean('unrestricted', {
      description: "Whether it is an operator's key, which reaches every company and location.",
    }),
    companyIds: t.idList({
      description: 'The companies that the key is tied to, with all their locations.',
      select: { companies: { select: { id: true }, orderBy: { id: 'asc' } } },
      resolve: ({ companies }) => companies.map(({ id }) => id),
    }),
    locationIds: t.idList({
      description: 'The locations that the key is tied to one by one.',
      select: { locations: { select: { id: true }, orderBy: { id: 'asc' } } },
      resolve: ({ locations }) => locations.map(({ id }) => id),
    }),
    hourlyLimit: t.exposeInt('hourlyLimit', { description: 'Requests that the key may make in an hour.' }),
    burstLimit: t.exposeInt('burstLimit', { description: 'Requests that the key may make in a minute.' }),
    hint: t.string({
      nullable: true,
      description: 'The end of the newest secret, to tell keys apart.',
      select: { secrets: { select: { hint: true }, orderBy: { id: 'desc' }, take: 1 } },
      resolve: ({ secrets }) => secrets[0]?.hint,
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key ends; null for never.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key was revoked; null while it is not.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key was last used, to a few seconds; null for never.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the key was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the key last changed.' }),
  }),
});

const ApiKeyConnection = builder.connectionObject(
  { type: ApiKey, name: 'ApiKeyConnection', description: 'A page of keys.' },
  { name: 'ApiKeyEdge', description: 'A key and its place in the list.' },
);

const IssuedApiKey = builder
  .objectRef<{ secret: string; apiKey: typeof ApiKey.$inferType }>('IssuedApiKey')
  .implement({
    description: 'A key with its new secret, which is shown this once and stored nowhere.',
    fields: (t) => ({
      secret: t.exposeString('secret', { description: 'What to send as `X-API-Key`.' }),
      apiKey: t.expose('apiKey', { type: ApiKey, description: 'The key.' }),
    }),
  });

builder.queryFields((t) => ({
  viewer: t.prismaField({
    type: ApiKey,
    description: 'The key that makes the request; for any valid key.',
    resolve: (query, _, __, { key, prisma }) =>
      prisma.apiKey.findUniqueOrThrow({ ...query, where: { id: key.id } }),
  }),
  apiKeys: t.connection(
    {
      type: ApiKey,
      permission: 'ADMIN',
      description: 'The keys that the key administers, oldest first.',
      resolve: (_, args, { key, prisma }) => {
        const where = apiKeyScope(key);
        return keysetConnection(
          args,
          (page) => prisma.apiKey.findMany({ where: { AND: [where, idWhere(page)] }, ...idOrder(page) }),
          () => prisma.apiKey.count({ where }),
        );
      },
    },
    ApiKeyConnection,
  ),
}));

builder.queryField('apiKey', (t) =>
  t.field({
    type: ApiKey,
    permission: 'ADMIN',
    description: 'One of the keys that the key administers.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the key.' }) },
    resolve: (_, { id }, context) => findApiKey(id, context),
  }),
);

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description:
    "A key to issue. It reaches what it is tied to; without companies and locations, and with ADMIN, issued by an operator's key, it is an operator's key itself.",
  fields: (t) => ({
    name: t.string({ required: true, description: 'What people call the key: 1 to 100 characters.' }),
    permissions: t.field({ type: [Permission], required: true, description: 'What the key may do.' }),
    companyIds: t.idList({ description: 'Companies to tie the key to, with all their locations.' }),
    locationIds: t.idList({ description: 'Locations to tie the key to one by one.' }),
    hourlyLimit: t.int({ description: 'Requests in an hour; 1000 when left out.' }),
    burstLimit: t.int({ description: 'Requests in a minute; 100 when left out.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When the key ends; never when left out.' }),
  }),
});

/**
 * Makes sure that a key gives away no more than it has.
 *
 * @throws {ServiceError} `FORBIDDEN` for permissions and companies, `NOT_FOUND` for locations
 */
async function requireGrantable(
  input: z.output<typeof createApiKeyRule>,
  { key, prisma }: Context,
): Promise<void> {
  const lacking = input.permissions.find(
    (permission) => !key.unrestricted && !key.permissions.has(permission),
  );
  if (lacking) {
    throw new ServiceError('FORBIDDEN', `API key lacks the permission ${lacking} and cannot grant it`, {
      field: 'permissions',
      value: lacking,
    });
  }
  const companyIds = input.companyIds ?? [];
  const grantable = key.unrestricted ? companyScope(key) : { id: { in: [...key.companyIds] } };
  const companies = await prisma.company.findMany({
    where: { AND: [grantable, { id: { in: companyIds.filter(isId) } }] },
    select: { id: true },
  });
  const forbidden = companyIds.find((id) => !companies.some((company) => company.id === id));
  if (forbidden !== undefined) throw companyForbidden(forbidden);

  const locationIds = input.locationIds ?? [];
  const locations = await prisma.location.findMany({
    where: { AND: [locationScope(key), { id: { in: locationIds.filter(isId) } }] },
    select: { id: true },
  });
  const unknown = locationIds.find((id) => !locations.some((location) => location.id === id));
  if (unknown !== undefined) throw locationNotFound(unknown);
}

/** The key of an id that a client sent, if the client's key administers it. */
async function findApiKey(id: string, { key, prisma }: Context) {
  const apiKey = isId(id)
    ? await prisma.apiKey.findFirst({ where: { AND: [{ id }, apiKeyScope(key)] } })
    : null;
  if (!apiKey) throw new ServiceError('NOT_FOUND', 'API key not found', { field: 'id', value: shown(id) });
  return apiKey;
}

/** A new secret, and what is stored of it. */
function issueSecret({ environment, hashSecret }: Context) {
  const secret = newSecret(environment);
  return { secret, stored: { id: newId(), hash: hashSecret(secret), hint: secretHint(secret) } };
}

const graceSeconds = wholeNumber(0, longestGraceSeconds).nullish();

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: IssuedApiKey,
    permission: 'ADMIN',
    description: 'Issues a key. It can be given no more than the issuing key has.',
    args: {
      input: t.arg({
        type: CreateApiKeyInput,
        required: true,
        description: 'The key.',
        validate: createApiKeyRule,
      }),
    },
    resolve: async (_, { input }, context) => {
      await requireGrantable(input, context);
      const { companyIds, locationIds, ...values } = input;
      const tied = Boolean(companyIds?.length || locationIds?.length);
      const { secret, stored } = issueSecret(context);
      const apiKey = await context.prisma.$transaction(async (transaction) => {
        const created = await transaction.apiKey.create({
          data: {
            ...values,
            id: newId(),
            environment: context.environment,
            permissions: [...new Set(input.permissions)],
            unrestricted: context.key.unrestricted && !tied && input.permissions.includes('ADMIN'),
            hourlyLimit: input.hourlyLimit ?? undefined,
            burstLimit: input.burstLimit ?? undefined,
            companies: { connect: companyIds?.map((id) => ({ id })) },
            locations: { connect: locationIds?.map((id) => ({ id })) },
            secrets: { create: stored },
          },
        });
        await recordChange(transaction, context, {
          action: 'api_key.created',
          targetId: created.id,
          changes: { ...created, companyIds, locationIds },
        });
        return created;
      });
      return { secret, apiKey };
    },
  }),
  rotateApiKey: t.field({
    type: IssuedApiKey,
    permission: 'ADMIN',
    description:
      'Issues a new secret for a key. Older secrets keep working for a grace period; limits and history go on.',
    args: {
      id: t.arg.id({ required: true, description: 'Identifier of the key.' }),
      graceSeconds: t.arg.int({
        description:
          'How long older secrets keep working: 0 to 2592000 seconds; 86400 (one day) when left out.',
        validate: graceSeconds,
      }),
    },
    resolve: async (_, args, context) => {
      const { id } = await findApiKey(args.id, context);
      const { secret, stored } = issueSecret(context);
      const graceEnd = new Date(Date.now() + (args.graceSeconds ?? defaultGraceSeconds) * 1000);
      const apiKey = await context.prisma.$transaction(async (transaction) => {
        // The row lock of the update makes two rotations at once follow each other.
        const rotated = await transaction.apiKey.update({ where: { id }, data: { updatedAt: new Date() } });
        if (rotated.revokedAt)
          throw new ServiceError('CONFLICT', 'API key is revoked', { field: 'id', value: id });
        await transaction.apiKeySecret.updateMany({
          where: { apiKeyId: id, OR: [{ expiresAt: null }, { expiresAt: { gt: graceEnd } }] },
          data: { expiresAt: graceEnd },
        });
        await transaction.apiKeySecret.create({ data: { ...stored, apiKeyId: id } });
        await recordChange(transaction, context, {
          action: 'api_key.rotated',
          targetId: id,
          changes: { graceEnd, hint: stored.hint },
        });
        return rotated;
      });
      await context.authenticator.keysChanged();
      return { secret, apiKey };
    },
  }),
  revokeApiKey: t.field({
    type: ApiKey,
    permission: 'ADMIN',
    description: 'Ends a key with all its secrets, at once and for good, on every process.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the key.' }) },
    resolve: async (_, args, context) => {
      const { id, revokedAt } = await findApiKey(args.id, context);
      const now = new Date();
      const apiKey = await context.prisma.$transaction(async (transaction) => {
        const revoked = await transaction.apiKey.update({
          where: { id },
          data: { revokedAt: revokedAt ?? now, updatedAt: now },
        });
        await recordChange(transaction, context, { action: 'api_key.revoked', targetId: id });
        return revoked;
      });
      await context.authenticator.keysChanged();
      return apiKey;
    },
  }),
}));
