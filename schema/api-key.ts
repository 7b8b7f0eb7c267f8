import { z } from 'zod';
import { Permission as permissions } from '../prisma/generated/client/enums.ts';
import { defaultLimits } from '../src/auth/key.ts';
import { defaultGraceSeconds, maxGraceSeconds } from '../src/auth/grace-period.ts';
import { reachesCompany, reachesLocation } from '../src/auth/scope.ts';
import { builder } from './builder.ts';
import { keysetConnection } from './pagination.ts';
import { Permission } from './permission.ts';
import { filledText, identifier, instant, wholeNumber } from './rules.ts';

const maxScopeIds = 1000;
const maxLimit = 10_000_000;

const ids = z.array(identifier).max(maxScopeIds, `Must be at most ${maxScopeIds} ids`);

/** The validation rules for the fields of a new API key, in the order of the input types. */
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
      message: "An operator's key has access to everything: omit companyIds and locationIds",
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
  description: 'An API key with its permissions, scope and limits. Its secret is shown only once.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'Identifier of the key. A rotation of the secret does not change the identifier.',
    }),
    name: t.exposeString('name', { description: 'Name of the key, for people.' }),
    permissions: t.expose('permissions', { type: [Permission], description: 'The permissions of the key.' }),
    unrestricted: t.exposeBoolean('unrestricted', {
      description: "Whether this is an operator's key, whose scope is every company and location.",
    }),
    companyIds: t.idList({
      description:
        'The companies in the scope of the key, with all their locations. Companies that the requesting key may not see are omitted.',
      select: { companies: { select: { id: true }, orderBy: { id: 'asc' } } },
      resolve: ({ companies }, _, { key }) =>
        companies.map(({ id }) => id).filter((id) => reachesCompany(key, id)),
    }),
    locationIds: t.idList({
      description:
        'The single locations in the scope of the key. Locations outside the scope of the requesting key are omitted.',
      select: { locations: { select: { id: true, companyId: true }, orderBy: { id: 'asc' } } },
      resolve: ({ locations }, _, { key }) =>
        locations.filter((location) => reachesLocation(key, location)).map(({ id }) => id),
    }),
    hourlyLimit: t.exposeInt('hourlyLimit', {
      description: 'The number of rate limit points that the key may use in an hour.',
    }),
    burstLimit: t.exposeInt('burstLimit', {
      description: 'The number of rate limit points that the key may use in a minute.',
    }),
    hint: t.string({
      nullable: true,
      description:
        'The last characters of the newest secret. Users can distinguish keys by these characters.',
      select: { secrets: { select: { hint: true }, orderBy: { id: 'desc' }, take: 1 } },
      resolve: ({ secrets }) => secrets[0]?.hint,
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key expires; null when it never expires.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key was revoked; null when it is not revoked.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key was last used, accurate to a few seconds; null when it was never used.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the key was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the key last changed.' }),
  }),
});

const ApiKeyConnection = builder.connectionObject(
  { type: ApiKey, name: 'ApiKeyConnection', description: 'A page of keys.' },
  { name: 'ApiKeyEdge', description: 'A key with its cursor in the list.' },
);

const IssuedApiKey = builder
  .objectRef<{ secret: string; apiKey: typeof ApiKey.$inferType }>('IssuedApiKey')
  .implement({
    description: 'A key with its new secret. The secret is shown only this once and is not stored.',
    fields: (t) => ({
      secret: t.exposeString('secret', { description: 'The secret, to send in the header `X-API-Key`.' }),
      apiKey: t.expose('apiKey', { type: ApiKey, description: 'The key.' }),
    }),
  });

const idArg = { required: true, description: 'Identifier of the key.', validate: identifier } as const;

builder.queryFields((t) => ({
  viewer: t.prismaField({
    type: ApiKey,
    description: 'The key that makes the request. Every valid key may read this field.',
    resolve: (query, _, __, { key, services: { prisma } }) =>
      prisma.apiKey.findUniqueOrThrow({ ...query, where: { id: key.id } }),
  }),
  apiKeys: t.connection(
    {
      type: ApiKey,
      permission: 'ADMIN',
      description:
        'The keys that the requesting key administers, oldest first. Their scope shares a company or location with the scope of the requesting key.',
      resolve: (_, args, { key, services: { apiKeys } }) => keysetConnection(args, apiKeys.list(key)),
    },
    ApiKeyConnection,
  ),
  apiKey: t.field({
    type: ApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND'],
    description: 'One key. The requesting key must administer the key.',
    args: { id: t.arg.id(idArg) },
    resolve: (_, { id }, { key, services: { apiKeys } }) => apiKeys.find(key, id),
  }),
}));

const fieldDescriptions = {
  name: 'Name of the key, for people: 1 to 100 characters.',
  permissions: 'The permissions of the key.',
  companyIds: 'Companies for the scope of the key, with all their locations.',
  locationIds: 'Single locations for the scope of the key.',
};

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description:
    "A key to issue. Its scope is the given companies and locations. A key without either has access to nothing until it registers a company; only an operator's key can issue one.",
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
      description: `Rate limit points in an hour. Default: ${defaultLimits.hourlyLimit}, or the limit of the issuing key when that is lower.`,
    }),
    burstLimit: t.int({
      description: `Rate limit points in a minute. Default: ${defaultLimits.burstLimit}, or the limit of the issuing key when that is lower.`,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When the key expires. Default: the expiry of the issuing key.',
    }),
    unrestricted: t.boolean({
      defaultValue: false,
      description:
        "Whether to issue an operator's key, whose scope is every company and location. Only an operator's key may do this. Companies and locations must then be omitted.",
    }),
  }),
});

const UpdateApiKeyInput = builder.inputType('UpdateApiKeyInput', {
  description:
    'The fields of a key to change. Omitted fields and null change nothing; only `expiresAt` may be set to null.',
  fields: (t) => ({
    name: t.string({ description: fieldDescriptions.name }),
    permissions: t.field({ type: [Permission], description: fieldDescriptions.permissions }),
    companyIds: t.idList({
      description: `${fieldDescriptions.companyIds} These companies replace the current companies.`,
    }),
    locationIds: t.idList({
      description: `${fieldDescriptions.locationIds} These locations replace the current locations.`,
    }),
    hourlyLimit: t.int({ description: 'Rate limit points in an hour.' }),
    burstLimit: t.int({ description: 'Rate limit points in a minute.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When the key expires. With null, the key never expires.',
    }),
  }),
});

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: IssuedApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND'],
    description:
      'Issues a key. Its permissions, scope, limits and expiry cannot exceed the permissions, scope, limits and expiry of the issuing key.',
    args: {
      input: t.arg({
        type: CreateApiKeyInput,
        required: true,
        description: 'The key.',
        validate: createApiKeyRule,
      }),
    },
    resolve: (_, { input }, context) => context.services.apiKeys.issue(context, input),
  }),
  updateApiKey: t.field({
    type: ApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND', 'CONFLICT'],
    description:
      'Changes the given fields of a key, at once on every process. The requesting key must have at least the permissions, scope, limits and expiry of the changed key, before and after the change.',
    args: {
      id: t.arg.id(idArg),
      input: t.arg({
        type: UpdateApiKeyInput,
        required: true,
        description: 'The changes.',
        validate: updateApiKeyRule,
      }),
    },
    resolve: (_, { id, input }, context) => context.services.apiKeys.update(context, id, input),
  }),
  rotateApiKey: t.field({
    type: IssuedApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND', 'CONFLICT'],
    description:
      'Issues a new secret for a key. Older secrets keep working for a grace period; limits and usage are unchanged. The requesting key must have at least the permissions, scope, limits and expiry of the rotated key.',
    args: {
      id: t.arg.id(idArg),
      graceSeconds: t.arg.int({
        description: `How long older secrets keep working: 0 to ${maxGraceSeconds} seconds. Default: ${defaultGraceSeconds} (one day).`,
        validate: wholeNumber(0, maxGraceSeconds).nullish(),
      }),
    },
    resolve: (_, { id, graceSeconds }, context) =>
      context.services.apiKeys.rotate(context, id, graceSeconds ?? undefined),
  }),
  revokeApiKey: t.field({
    type: ApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND'],
    description:
      'Revokes a key with all its secrets, at once and permanently, on every process. Every key that administers the revoked key may do this. Revoking a revoked key changes nothing.',
    args: { id: t.arg.id(idArg) },
    resolve: (_, { id }, context) => context.services.apiKeys.revoke(context, id),
  }),
}));
