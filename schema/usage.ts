import { invalidField } from '../src/errors.ts';
import type { UsageBucket as Bucket } from '../src/usage-store.ts';
import { ApiKey } from './api-key.ts';
import { builder } from './builder.ts';
import { instant } from './rules.ts';

const hour = 3_600_000;
const defaultHours = 24;
const longestDays = 31;

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
        'Requests of these that were turned away: status 429 over a rate limit, 401 or 403 without the permission.',
    }),
    errors: t.exposeInt('errors', {
      description:
        'Requests of these that ended in any other status from 400 on. The graph answers most errors with status 200, and these are not counted.',
    }),
  }),
});

/**
 * The time that a client asks about: the last 24 hours, or those before `to`, when it says no more.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` for a time that is empty or too long
 */
function usagePeriod(args: { from?: Date | null | undefined; to?: Date | null | undefined }) {
  const to = args.to ?? new Date();
  const from = args.from ?? new Date(to.getTime() - defaultHours * hour);
  if (from >= to) throw invalidField('from', 'Must be before `to`', from.toISOString());
  if (to.getTime() - from.getTime() > longestDays * 24 * hour) {
    throw invalidField('from', `Must be at most ${longestDays} days before \`to\``, from.toISOString());
  }
  return { from, to };
}

builder.objectField(ApiKey, 'usage', (t) =>
  t.field({
    type: [UsageBucket],
    description:
      'The requests of the key by hour, operation and surface, in this order. A request counts within a few seconds; one with an unknown key belongs to no key.',
    // As if each hour of a day had one item: a longer time costs the same, so that a page of keys has room.
    complexity: { field: 10, multiplier: defaultHours },
    args: {
      from: t.arg({
        type: 'DateTime',
        description: `From when on; ${defaultHours} hours before \`to\` when left out, at most ${longestDays} days before it.`,
        validate: instant,
      }),
      to: t.arg({
        type: 'DateTime',
        description: 'Until when, this time not included; now when left out.',
        validate: instant,
      }),
    },
    resolve: ({ id }, args, { usage }) => usage.byHour({ apiKeyId: id, ...usagePeriod(args) }),
  }),
);
