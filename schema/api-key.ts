import { z } from 'zod';
import { Permission as permissions } from '../prisma/generated/client/enums.ts';
import { defaultLimits } from '../src/auth/key.ts';
import { defaultGraceSeconds, maxGraceSeconds } from '../src/auth/grace-period.ts';
import { reachesCompany, reachesLocation } from '../src/auth/scope.ts';
import { builder } from './builder.ts';
import { keysetConnection } from './pagination.ts';
import { Permission } from './permission.ts';
import { filledText, instant, wholeNumber } from './rules.ts';

const maxTies = 1000;
const maxLimit = 10_000_000;

const ids = z.array(z.string()).max(maxTies, `Must be at most ${maxTies} ids`);

/** The fields that a key has from its creation on, in the order of the input types. */
const keyRules = {
  name: filledText(100, 'Key name is required'),
  permissions: z.array(z.enum(permissions)).min(1, 'At least one permission is required'),
  companyIds: ids.nullish(),
  locationIds: ids.nullish(),
  hourlyLimit: wholeNumber(1, maxLimit).nullish(),
  burstLimit: wholeNumber(1, maxLimit).nullish(),
  expiresAt: instant.refine((value) => value.getTime() > Date.now(), 'Must be in the future').nullish(),
};

const createApiKeyRule = z
  .object({ ...keyRules, unrestricted: z.boolean().nullish() })
  .refine(
    ({ unrestricted, companyIds, locationIds }) =>
      !unrestricted || !(companyIds?.length || locationIds?.length),
    {
      path: ['unrestricted'],
      message: "An operator's key reaches everything: leave out companyIds and locationIds",
    },
  );

const updateApiKeyRule = z
  .object({ ...keyRules, name: keyRules.name.nullish(), permissions: keyRules.permissions.nullish() })
  .refine(
    ({ expiresAt, ...fields }) =>
      expiresAt !== undefined || Object.values(fields).some((value) => value !== null && value !== undefined),
    'At least one field to change is required',
  );

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
      description:
        'The companies that the key is tied to, with all their locations; of these, those that the asking key may see.',
      select: { companies: { select: { id: true }, orderBy: { id: 'asc' } } },
      resolve: ({ companies }, _, { key }) =>
        companies.map(({ id }) => id).filter((id) => reachesCompany(key, id)),
    }),
    locationIds: t.idList({
      description:
        'The locations that the key is tied to one by one; of these, those that the asking key reaches.',
      select: { locations: { select: { id: true, companyId: true }, orderBy: { id: 'asc' } } },
      resolve: ({ locations }, _, { key }) =>
        locations.filter((location) => reachesLocation(key, location)).map(({ id }) => id),
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

const idArg = { required: true, description: 'Identifier of the key.' } as const;

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
      description:
        'The keys that the key administers, oldest first: those that are tied to a company or a location in its reach.',
      resolve: (_, args, { key, apiKeys }) => keysetConnection(args, apiKeys.list(key)),
    },
    ApiKeyConnection,
  ),
  apiKey: t.field({
    type: ApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND'],
    description: 'One of the keys that the key administers.',
    args: { id: t.arg.id(idArg) },
    resolve: (_, { id }, { key, apiKeys }) => apiKeys.find(key, id),
  }),
}));

const fieldDescriptions = {
  name: 'What people call the key: 1 to 100 characters.',
  permissions: 'What the key may do.',
  companyIds: 'Companies to tie the key to, with all their locations.',
  locationIds: 'Locations to tie the key to one by one.',
};

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description:
    'A key to issue. It reaches what it is tied to; a key without ties reaches nothing until it registers a company, and only an operator can issue one.',
  fields: (t) => ({
    name: t.string({ required: true, description: fieldDescriptions.name }),
    permissions: t.field({
      type: [Permission],
      required: true,
      description: fieldDescriptions.permissions,
    }),
    companyIds: t.idList({ description: fieldDescriptions.companyIds }),
    locationIds: t.idList({ description: fieldDescriptions.locationIds }),
    hourlyLimit: t.int({
      description: `Requests in an hour; when left out ${defaultLimits.hourlyLimit}, or the limit of the issuing key when that is lower.`,
    }),
    burstLimit: t.int({
      description: `Requests in a minute; when left out ${defaultLimits.burstLimit}, or the limit of the issuing key when that is lower.`,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When the key ends; when left out with the issuing key, or never when that never ends.',
    }),
    unrestricted: t.boolean({
      defaultValue: false,
      description:
        "Whether it is an operator's key, which reaches every company and location. Only for an operator, and only without ties.",
    }),
  }),
});

const UpdateApiKeyInput = builder.inputType('UpdateApiKeyInput', {
  description:
    'What to change of a key; what is left out stays as it is, and so does what is null, but for `expiresAt`.',
  fields: (t) => ({
    name: t.string({ description: fieldDescriptions.name }),
    permissions: t.field({ type: [Permission], description: fieldDescriptions.permissions }),
    companyIds: t.idList({ description: `${fieldDescriptions.companyIds} In place of the former.` }),
    locationIds: t.idList({ description: `${fieldDescriptions.locationIds} In place of the former.` }),
    hourlyLimit: t.int({ description: 'Requests in an hour.' }),
    burstLimit: t.int({ description: 'Requests in a minute.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When the key ends; null for never.' }),
  }),
});

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: IssuedApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND'],
    description:
      'Issues a key. It can be given no more than the issuing key has: permissions, reach, limits, end.',
    args: {
      input: t.arg({
        type: CreateApiKeyInput,
        required: true,
        description: 'The key.',
        validate: createApiKeyRule,
      }),
    },
    resolve: (_, { input }, context) => context.apiKeys.issue(context, input),
  }),
  updateApiKey: t.field({
    type: ApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND', 'CONFLICT'],
    description:
      'Changes the fields that are sent, at once on every process. Takes a key with at least the permissions, reach, limits and end of the changed one, and gives no more than it has.',
    args: {
      id: t.arg.id(idArg),
      input: t.arg({
        type: UpdateApiKeyInput,
        required: true,
        description: 'What to change.',
        validate: updateApiKeyRule,
      }),
    },
    resolve: (_, { id, input }, context) => context.apiKeys.update(context, id, input),
  }),
  rotateApiKey: t.field({
    type: IssuedApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND', 'CONFLICT'],
    description:
      'Issues a new secret for a key. Older secrets keep working for a grace period; limits and history go on. Takes a key with at least the permissions, reach, limits and end of the rotated one.',
    args: {
      id: t.arg.id(idArg),
      graceSeconds: t.arg.int({
        description: `How long older secrets keep working: 0 to ${maxGraceSeconds} seconds; ${defaultGraceSeconds} (one day) when left out.`,
        validate: wholeNumber(0, maxGraceSeconds).nullish(),
      }),
    },
    resolve: (_, { id, graceSeconds }, context) =>
      context.apiKeys.rotate(context, id, graceSeconds ?? undefined),
  }),
  revokeApiKey: t.field({
    type: ApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND'],
    description:
      'Ends a key with all its secrets, at once and for good, on every process. Whoever administers a company or location of the key may do so. Revoking a revoked key changes nothing.',
    args: { id: t.arg.id(idArg) },
    resolve: (_, { id }, context) => context.apiKeys.revoke(context, id),
  }),
}));
