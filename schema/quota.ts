import { z } from 'zod';
import type { Quota as QuotaRow } from '../prisma/generated/client/client.ts';
import { QuotaEnforcement as enforcements } from '../prisma/generated/client/enums.ts';
import { invalidField, quotaNotFound } from '../src/errors/error-table.ts';
import { maxQuotasPerCall, type QuotaValues } from '../src/whitelist/quotas.ts';
import { builder } from './builder.ts';
import { Location } from './location.ts';
import { keysetConnection } from './pagination.ts';
import { filledText, wholeNumber } from './rules.ts';

const quotaRule = z.object({
  referenceId: filledText(100, 'Reference id must not be blank'),
  inside: wholeNumber(0).nullish(),
  enforcement: z.enum(enforcements).nullish(),
});

/** The quotas of one call: each reference once, or it would not be clear which one holds. */
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
  description: 'What a quota that is reached does.',
  values: {
    HARD: { description: '`plateAccess` answers `QUOTA_REACHED`.' },
    REPORT: { description: '`plateAccess` lets the vehicle in and says so (`overQuota`).' },
  },
});

const descriptions = {
  referenceId: 'Whose vehicles: the reference id of whitelist entries, 1 to 100 characters.',
  inside: 'How many of them may be inside at a time, 0 or more',
  enforcement: 'What happens when so many are inside',
};

const Quota = builder.objectRef<QuotaRow>('Quota').implement({
  description: 'How many vehicles of a reference may be inside a location at a time.',
  fields: (t) => ({
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    referenceId: t.exposeString('referenceId', { description: descriptions.referenceId }),
    inside: t.exposeInt('inside', { description: `${descriptions.inside}.` }),
    enforcement: t.expose('enforcement', {
      type: QuotaEnforcement,
      description: `${descriptions.enforcement}.`,
    }),
    used: t.int({
      complexity: { field: 5, multiplier: 1, reads: true }, // it counts vehicles
      description: 'How many of them are inside now.',
      resolve: (quota, _, { whitelist }) => whitelist.quotas.used(quota),
    }),
  }),
});

const QuotaConnection = builder.connectionObject(
  { type: Quota, name: 'QuotaConnection', description: 'A page of quotas.' },
  { name: 'QuotaEdge', description: 'A quota and its place in the list.' },
);

const referenceArgument = builder.args((t) => ({
  referenceId: t.string({ description: 'Only the quota of this reference; all when left out.' }),
}));

builder.objectField(Location, 'quotas', (t) =>
  t.connection(
    {
      type: Quota,
      permission: 'READ_WHITELIST',
      description: 'The quotas of the location, oldest first.',
      args: referenceArgument,
      resolve: ({ id }, { referenceId, ...args }, { key, whitelist }) =>
        keysetConnection(args, whitelist.quotas.of(key, id, referenceId || undefined)),
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
        'The quotas of a location, oldest first; for keys that may read whitelists but not locations.',
      args: {
        locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
        ...referenceArgument,
      },
      resolve: (_, { locationId, referenceId, ...args }, { key, whitelist }) =>
        keysetConnection(args, whitelist.quotas.of(key, locationId, referenceId || undefined)),
    },
    QuotaConnection,
  ),
);

const QuotaInput = builder.inputType('QuotaInput', {
  description: 'A quota to set.',
  fields: (t) => ({
    referenceId: t.string({ required: true, description: descriptions.referenceId }),
    inside: t.int({ description: `${descriptions.inside}; null takes the quota away.` }),
    enforcement: t.field({
      type: QuotaEnforcement,
      defaultValue: 'HARD',
      description: `${descriptions.enforcement}; \`HARD\` when left out.`,
    }),
  }),
});

builder.mutationFields((t) => ({
  setQuota: t.field({
    type: Quota,
    permission: 'WRITE_WHITELIST',
    description:
      'Sets how many vehicles of a reference may be inside at a time. Taking it away returns it as it was, or `NOT_FOUND` when there is none.',
    args: {
      locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      referenceId: t.arg.string({
        required: true,
        description: descriptions.referenceId,
        validate: quotaRule.shape.referenceId,
      }),
      inside: t.arg.int({
        description: `${descriptions.inside}; null takes the quota away.`,
        validate: quotaRule.shape.inside,
      }),
      enforcement: t.arg({
        type: QuotaEnforcement,
        defaultValue: 'HARD',
        description: `${descriptions.enforcement}; \`HARD\` when left out.`,
      }),
    },
    resolve: async (_, { locationId, ...quota }, context) => {
      const [set] = await context.whitelist.quotas.set(context, locationId, [valuesOf(quota)]);
      if (!set) throw quotaNotFound(quota.referenceId);
      return set;
    },
  }),
  setQuotas: t.field({
    type: [Quota],
    permission: 'WRITE_WHITELIST',
    rowsPerPoint: 1000,
    complexity: { field: 1, multiplier: 100, wholeReads: true }, // up to 1,000
    description:
      'Sets many quotas of a location, all or none. Those that are taken away are returned as they were; taking away what is not there does nothing.',
    args: {
      locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      quotas: t.arg({
        type: [QuotaInput],
        required: true,
        description: `The quotas, 1 to ${maxQuotasPerCall}, each reference once.`,
        validate: quotasRule,
      }),
    },
    resolve: async (_, { locationId, quotas }, context) => {
      const seen = new Set<string>();
      for (const [index, { referenceId }] of quotas.entries()) {
        if (seen.has(referenceId)) {
          throw invalidField(`quotas.${index}.referenceId`, 'Must stand in one quota only', referenceId);
        }
        seen.add(referenceId);
      }
      const set = await context.whitelist.quotas.set(context, locationId, quotas.map(valuesOf));
      return set.filter((quota) => quota !== null);
    },
  }),
}));
