import { z } from 'zod';
import type { Quota as QuotaRow } from '../prisma/generated/client/client.ts';
import { QuotaEnforcement as enforcements } from '../prisma/generated/client/enums.ts';
import { invalidField, quotaNotFound } from '../src/errors/error-table.ts';
import { maxQuotasPerCall, type QuotaValues } from '../src/parking/quotas.ts';
import { builder } from './builder.ts';
import { Location, locationIdArg } from './location.ts';
import { keysetConnection } from './pagination.ts';
import { textFilter, wholeNumber } from './rules.ts';
import { lengthOfReferenceId, referenceId } from './whitelist.ts';

const quotaRule = z.object({
  referenceId,
  inside: wholeNumber(0).nullish(),
  enforcement: z.enum(enforcements).nullish(),
});

/**
 * Validates the quotas of references (such as apartments) in a request. A request may contain at most one quota for
 * each reference. If a request had two quotas for one reference, it would not be clear which quota applies.
 */
const quotasRule = z
  .array(quotaRule)
  .min(1, 'At least one quota is required')
  .max(maxQuotasPerCall, `At most ${maxQuotasPerCall} quotas are allowed in one call`);

const valuesOf = ({ referenceId, inside, enforcement }: z.output<typeof quotaRule>): QuotaValues => ({
  referenceId,
  inside: inside ?? null,
  enforcement: enforcement ?? 'HARD',
});

const QuotaEnforcement = builder.enumType(enforcements, {
  name: 'QuotaEnforcement',
  description:
    'What the gateway does when a vehicle wants to enter although the quota of its reference (such as an apartment) is full.',
  values: {
    HARD: {
      description: 'When the quota is full, `plateAccess` denies entry with the reason `QUOTA_REACHED`.',
    },
    REPORT: {
      description: 'When the quota is full, `plateAccess` still allows entry, and sets `overQuota`.',
    },
  },
});

const descriptions = {
  referenceId: `The reference id of whitelist entries, ${lengthOfReferenceId}.`,
  inside: 'How many vehicles of the reference may be inside at the same time, 0 or more',
  enforcement: 'What happens when the quota is full',
};

const Quota = builder.objectRef<QuotaRow>('Quota').implement({
  description:
    'The maximum number of vehicles of one reference (such as an apartment) that may be inside a location at the same time.',
  fields: (t) => ({
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    referenceId: t.exposeString('referenceId', { description: descriptions.referenceId }),
    inside: t.exposeInt('inside', { description: `${descriptions.inside}.` }),
    enforcement: t.expose('enforcement', {
      type: QuotaEnforcement,
      description: `${descriptions.enforcement}.`,
    }),
    used: t.int({
      // The field `used` costs more than other fields, because PostgreSQL must count the vehicles inside.
      complexity: { field: 5, multiplier: 1, reads: true },
      description:
        'Number of vehicles of this reference (such as an apartment) that are inside the location now.',
      resolve: (quota, _, { services: { whitelist } }) => whitelist.quotas.used(quota),
    }),
  }),
});

const QuotaConnection = builder.connectionObject(
  { type: Quota, name: 'QuotaConnection', description: 'A page of quotas.' },
  { name: 'QuotaEdge', description: 'A quota, together with its cursor for pagination.' },
);

const referenceArgument = builder.args((t) => ({
  referenceId: t.string({
    description:
      'If set, the list contains only the quota of the reference (such as an apartment) with this id. If `referenceId` is omitted or empty, the list contains all quotas of the location.',
    validate: textFilter,
  }),
}));

builder.objectField(Location, 'quotas', (t) =>
  t.connection(
    {
      type: Quota,
      permission: 'READ_WHITELIST',
      description: 'The quotas of the location, oldest first.',
      args: referenceArgument,
      resolve: ({ id }, { referenceId, ...args }, { key, services: { whitelist } }) =>
        keysetConnection(args, whitelist.quotas.of(key, id, referenceId ?? undefined)),
    },
    QuotaConnection,
  ),
);

builder.queryField('quotas', (t) =>
  t.connection(
    {
      type: Quota,
      permission: 'READ_WHITELIST',
      description:
        'The quotas of a location, oldest first. Unlike `Location.quotas`, the query `quotas` does not need the permission `READ_LOCATIONS`.',
      args: {
        locationId: t.arg.id(locationIdArg),
        ...referenceArgument,
      },
      resolve: (_, { locationId, referenceId, ...args }, { key, services: { whitelist } }) =>
        keysetConnection(args, whitelist.quotas.of(key, locationId, referenceId ?? undefined)),
    },
    QuotaConnection,
  ),
);

const QuotaInput = builder.inputType('QuotaInput', {
  description: 'A quota to set.',
  fields: (t) => ({
    referenceId: t.string({ required: true, description: descriptions.referenceId }),
    inside: t.int({ description: `${descriptions.inside}; null or an omitted value removes the quota.` }),
    enforcement: t.field({
      type: QuotaEnforcement,
      defaultValue: 'HARD',
      description: `${descriptions.enforcement}. Default: \`HARD\`.`,
    }),
  }),
});

builder.mutationFields((t) => ({
  setQuota: t.field({
    type: Quota,
    permission: 'WRITE_WHITELIST',
    description:
      'Sets or removes the quota of a reference. When the mutation removes a quota, it returns the last values of this quota. Fails with `NOT_FOUND` when the reference has no quota to remove.',
    args: {
      locationId: t.arg.id(locationIdArg),
      referenceId: t.arg.string({
        required: true,
        description: descriptions.referenceId,
        validate: quotaRule.shape.referenceId,
      }),
      inside: t.arg.int({
        description: `${descriptions.inside}; null or an omitted value removes the quota.`,
        validate: quotaRule.shape.inside,
      }),
      enforcement: t.arg({
        type: QuotaEnforcement,
        defaultValue: 'HARD',
        description: `${descriptions.enforcement}. Default: \`HARD\`.`,
      }),
    },
    resolve: async (_, { locationId, ...quota }, context) => {
      const [set] = await context.services.whitelist.quotas.set(context, locationId, [valuesOf(quota)]);
      if (!set) throw quotaNotFound(quota.referenceId);
      return set;
    },
  }),
  setQuotas: t.field({
    type: [Quota],
    permission: 'WRITE_WHITELIST',
    rowsPerPoint: 1000,
    complexity: { field: 1, multiplier: 100, wholeReads: true }, // a request may have up to 1,000 quotas
    description:
      'Sets or removes many quotas of a location in one transaction, so that either all changes succeed or none. Returns the quotas that were set, and the last values of the quotas that were removed. If a quota that the client wants to remove does not exist, the gateway ignores this removal.',
    args: {
      locationId: t.arg.id(locationIdArg),
      quotas: t.arg({
        type: [QuotaInput],
        required: true,
        description: `A list of 1 to ${maxQuotasPerCall} quotas. Each reference may occur only once in this list of quotas.`,
        validate: quotasRule,
      }),
    },
    resolve: async (_, { locationId, quotas }, context) => {
      const seen = new Set<string>();
      for (const [index, { referenceId }] of quotas.entries()) {
        if (seen.has(referenceId)) {
          throw invalidField(`quotas.${index}.referenceId`, 'Must occur only once', referenceId);
        }
        seen.add(referenceId);
      }
      const set = await context.services.whitelist.quotas.set(context, locationId, quotas.map(valuesOf));
      return set.filter((quota) => quota !== null);
    },
  }),
}));
