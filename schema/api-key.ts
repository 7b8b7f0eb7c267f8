import { z } from 'zod';
import { Permission as permissions } from '../prisma/generated/client/enums.ts';
import { defaultLimits } from '../src/auth/key.ts';
import { defaultGraceSeconds, maxGraceSeconds } from '../src/auth/grace-period.ts';
import { reachesCompany, reachesLocation } from '../src/auth/scope.ts';
import { builder } from './builder.ts';
import { keysetConnection } from './pagination.ts';
import { Permission } from './permission.ts';
import { instant } from './instant.ts';
import { filledText, identifier, isObject, wholeNumber } from './rules.ts';

const maxNameLength = 100;
const maxScopeIds = 1000;
const maxLimit = 10_000_000;

const ids = z.array(identifier).max(maxScopeIds, `Must be at most ${maxScopeIds} ids`);

/** The validation rules for the fields of a new API key, in the order of the fields in the GraphQL input types. */
const keyRules = {
  name: filledText(maxNameLength, 'Key name is required'),
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
      when: isObject,
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
    'An API key with its permissions, scope and limits. The gateway shows the secret of an API key only once.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'Identifier of the API key. A rotation of the secret does not change the identifier.',
    }),
    name: t.exposeString('name', { description: 'A name by which people recognise the API key.' }),
    permissions: t.expose('permissions', { type: [Permission], description: 'Permissions of the API key.' }),
    unrestricted: t.exposeBoolean('unrestricted', {
      description:
        "Whether this API key is an operator's key. An operator's key has access to every company and every location.",
    }),
    companyIds: t.idList({
      description:
        'The companies in the scope of the API key, with all their locations. The list contains only companies in the scope of the API key that the client uses for the request.',
      select: { companies: { select: { id: true }, orderBy: { id: 'asc' } } },
      resolve: ({ companies }, _, { key }) =>
        companies.map(({ id }) => id).filter((id) => reachesCompany(key, id)),
    }),
    locationIds: t.idList({
      description:
        'The locations that the scope of the API key lists one by one, in addition to all locations of the companies in `companyIds`. The list contains only locations in the scope of the API key that the client uses for the request.',
      select: { locations: { select: { id: true, companyId: true }, orderBy: { id: 'asc' } } },
      resolve: ({ locations }, _, { key }) =>
        locations.filter((location) => reachesLocation(key, location)).map(({ id }) => id),
    }),
    hourlyLimit: t.exposeInt('hourlyLimit', {
      description: 'Number of rate limit points that the API key may use in an hour.',
    }),
    burstLimit: t.exposeInt('burstLimit', {
      description: 'Number of rate limit points that the API key may use in a minute.',
    }),
    hint: t.string({
      nullable: true,
      description: 'The last characters of the newest secret. They help users to distinguish their API keys.',
      select: { secrets: { select: { hint: true }, orderBy: { id: 'desc' }, take: 1 } },
      resolve: ({ secrets }) => secrets[0]?.hint,
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the API key expires; null when it never expires.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the API key was revoked; null when it is not revoked.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time of the last request with the API key, accurate to a few seconds; null when the API key has never been used.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time at which the API key was created.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'The time at which the API key last changed.',
    }),
  }),
});

const ApiKeyConnection = builder.connectionObject(
  { type: ApiKey, name: 'ApiKeyConnection', description: 'A page of keys.' },
  { name: 'ApiKeyEdge', description: 'An API key, and its cursor in the list of API keys.' },
);

const IssuedApiKey = builder
  .objectRef<{ secret: string; apiKey: typeof ApiKey.$inferType }>('IssuedApiKey')
  .implement({
    description:
      'An API key with its new secret. The gateway returns the secret only once, and stores only its hash.',
    fields: (t) => ({
      secret: t.exposeString('secret', {
        description: 'The secret that clients send in the header `X-API-Key`.',
      }),
      apiKey: t.expose('apiKey', { type: ApiKey, description: 'The key.' }),
    }),
  });

const idArg = { required: true, description: 'Identifier of the key.', validate: identifier } as const;

builder.queryFields((t) => ({
  viewer: t.prismaField({
    type: ApiKey,
    description: 'The API key that the client uses for the request. Every valid API key may read this field.',
    resolve: (query, _, __, { key, services: { prisma } }) =>
      prisma.apiKey.findUniqueOrThrow({ ...query, where: { id: key.id } }),
  }),
  apiKeys: t.connection(
    {
      type: ApiKey,
      permission: 'ADMIN',
      description:
        "The API keys that a client may administer with the API key that it uses for the request, oldest first. An operator's key may administer all API keys. An API key that is not an operator's key may administer another API key if the scopes of both API keys have a company or location in common. Only an operator's key may administer an operator's key.",
      resolve: (_, args, { key, services: { apiKeys } }) => keysetConnection(args, apiKeys.list(key)),
    },
    ApiKeyConnection,
  ),
  apiKey: t.field({
    type: ApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND'],
    description: 'One API key that the client may administer with its own API key (see `apiKeys`).',
    args: { id: t.arg.id(idArg) },
    resolve: (_, { id }, { key, services: { apiKeys } }) => apiKeys.find(key, id),
  }),
}));

const fieldDescriptions = {
  name: `A name by which people recognise the API key: 1 to ${maxNameLength} characters.`,
  permissions: 'The permissions of the API key.',
  companyIds: 'Companies for the scope of the API key, with all their locations.',
  locationIds: 'Single locations for the scope of the API key.',
};

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description:
    "The values of a new API key. The scope of the new API key consists of the given companies and locations. An API key without companies and locations has access to no data until it registers a company. Only an operator's key can issue an API key without companies and locations.",
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
      description: `Number of rate limit points that the API key may use in an hour. Default: ${defaultLimits.hourlyLimit}, but at most the limit of the API key that the client uses for the request.`,
    }),
    burstLimit: t.int({
      description: `Number of rate limit points that the API key may use in a minute. Default: ${defaultLimits.burstLimit}, but at most the limit of the API key that the client uses for the request.`,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description:
        'The time at which the API key expires. Default: the expiry of the API key that the client uses for the request.',
    }),
    unrestricted: t.boolean({
      defaultValue: false,
      description:
        "Whether to issue an operator's key, whose scope is every company and location. Only an operator's key may issue another operator's key. For an operator's key, omit `companyIds` and `locationIds`.",
    }),
  }),
});

const UpdateApiKeyInput = builder.inputType('UpdateApiKeyInput', {
  description:
    'The new values for some fields of an API key. A field that is omitted or null stays unchanged. As an exception, `expiresAt: null` means that the API key never expires.',
  fields: (t) => ({
    name: t.string({ description: fieldDescriptions.name }),
    permissions: t.field({ type: [Permission], description: fieldDescriptions.permissions }),
    companyIds: t.idList({
      description: `${fieldDescriptions.companyIds} These companies replace all companies that the scope of the API key lists now.`,
    }),
    locationIds: t.idList({
      description: `${fieldDescriptions.locationIds} These locations replace all locations that the scope of the API key lists now.`,
    }),
    hourlyLimit: t.int({ description: 'Number of rate limit points that the API key may use in an hour.' }),
    burstLimit: t.int({ description: 'Number of rate limit points that the API key may use in a minute.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'The time at which the API key expires; with null, it never expires.',
    }),
  }),
});

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: IssuedApiKey,
    permission: 'ADMIN',
    errors: ['NOT_FOUND'],
    description:
      "Issues an API key. The new API key cannot have more permissions, a larger scope or a later expiry than the API key that the client uses for the request. Only an operator's key may issue an API key with higher rate limits than its own.",
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
      "Changes the given fields of an API key. Every gateway process applies the change of the API key immediately. Before and after the change, the changed key must not have more access than the API key that the client uses for the request. Access means the permissions, the scope, the rate limits and the expiry. As an exception, the rate limits of the changed key may be higher if the client uses an operator's key.",
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
      "Issues a new secret for an API key. The previous secrets of the API key stay valid for a grace period. The rotation changes neither the rate limits nor the usage of the API key. A client can rotate an API key only if this key has no more access than the API key that the client uses for the request. Access means the permissions, the scope, the rate limits and the expiry. As an exception, an operator's key may rotate an API key with higher rate limits than its own.",
    args: {
      id: t.arg.id(idArg),
      graceSeconds: t.arg.int({
        description: `The time for which older secrets of the API key stay valid: 0 to ${maxGraceSeconds} seconds. Default: ${defaultGraceSeconds} (one day).`,
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
      'Permanently revokes an API key with all its secrets. The revocation takes effect immediately in every gateway process. An API key can revoke every API key that it may administer (see `apiKeys`). If the API key is already revoked, nothing changes.',
    args: { id: t.arg.id(idArg) },
    resolve: (_, { id }, context) => context.services.apiKeys.revoke(context, id),
  }),
}));
