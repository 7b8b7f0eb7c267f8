import { invalidField } from '../src/errors/error-table.ts';
import { listInParts } from '../src/list-in-parts.ts';
import type { UsageBucket as Bucket } from '../src/usage/reads.ts';
import { ApiKey } from './api-key.ts';
import { builder } from './builder.ts';
import { instant } from './rules.ts';

const second = 1000;
const hour = 3_600_000;
const defaultHours = 24;
const maxUsageDays = 31;

const UsageBucket = builder.objectRef<Bucket>('UsageBucket').implement({
  description: 'How often a key used one operation in one hour.',
  fields: (t) => ({
    hour: t.expose('hour', { type: 'DateTime', description: 'The start of the hour, in UTC.' }),
    surface: t.exposeString('surface', { description: 'The surface: `graphql` or `rest`.' }),
    operation: t.exposeString('operation', {
      description:
        'What was asked, such as `GET /companies` or `query viewer`; `unknown` for a request that was refused or broken before it was read.',
    }),
    requests: t.exposeInt('requests', { description: 'Requests, whatever their end.' }),
    refused: t.exposeInt('refused', {
      description:
        'Requests of these that were turned away: over a rate limit (429), without a valid key (401) or without the permission (403).',
    }),
    errors: t.exposeInt('errors', {
      description:
        'Requests of these that ended in any other error. An error of the graph counts although its HTTP status is 200.',
    }),
  }),
});

/**
 * The time that a client asks about: the last 24 hours, or those before `to`, when it says no more.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` for a time that is empty or too long
 */
function usagePeriod(args: { from?: Date | null | undefined; to?: Date | null | undefined }) {
  // Now is the next full second, so that the fields of one request that name no time ask the same.
  const to = args.to ?? new Date(Math.ceil(Date.now() / second) * second);
  const from = args.from ?? new Date(to.getTime() - defaultHours * hour);
  if (from >= to) throw invalidField('from', 'Must be before `to`', from.toISOString());
  if (to.getTime() - from.getTime() > maxUsageDays * 24 * hour) {
    throw invalidField('from', `Must be at most ${maxUsageDays} days before \`to\``, from.toISOString());
  }
  return { from, to };
}

builder.objectField(ApiKey, 'usage', (t) =>
  t.field({
    type: [UsageBucket],
    description:
      'The requests of the key by hour, operation and surface, in this order. A request counts within a few seconds; one with an unknown key belongs to no key.',
    // Up to 31 days of hours, with several rows each: the cost keeps an operation from asking for many, a bound the rest.
    complexity: { field: 200, multiplier: defaultHours, takesTurns: true },
    args: {
      from: t.arg({
        type: 'DateTime',
        description: `From which hour on: the hour that holds this time counts in full. ${defaultHours} hours before \`to\` when left out, at most ${maxUsageDays} days before it.`,
        validate: instant,
      }),
      to: t.arg({
        type: 'DateTime',
        description:
          'Until when: an hour counts, in full, when it starts before this time; now when left out.',
        validate: instant,
      }),
    },
    resolve: async ({ id }, args, context) =>
      listInParts(await context.usage.byHour({ apiKeyId: id, ...usagePeriod(args) }, context)),
  }),
);
