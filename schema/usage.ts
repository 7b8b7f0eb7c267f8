import { invalidField } from '../src/errors/error-table.ts';
import { createChunkedList } from '../src/scheduling/chunked-list.ts';
import type { UsageBucket as Bucket } from '../src/usage/reads.ts';
import { ApiKey } from './api-key.ts';
import { builder } from './builder.ts';
import { instant } from './instant.ts';

const second = 1000;
const hour = 3_600_000;
const defaultHours = 24;
const maxUsageDays = 31;

const UsageBucket = builder.objectRef<Bucket>('UsageBucket').implement({
  description: 'How many requests an API key sent for one operation in one hour.',
  fields: (t) => ({
    hour: t.expose('hour', { type: 'DateTime', description: 'The start of the hour, in UTC.' }),
    surface: t.exposeString('surface', {
      description: 'The API to which the client sent the requests: `graphql` or `rest`.',
    }),
    operation: t.exposeString('operation', {
      description:
        'The operation, such as `GET /companies` or `query viewer`. The operation is `unknown` when a request failed before the gateway had read the name of the operation.',
    }),
    requests: t.exposeInt('requests', {
      description: 'Number of requests, including refused and failed requests.',
    }),
    refused: t.exposeInt('refused', {
      description:
        'Number of requests that the gateway refused: the rate limit was exceeded (429), the API key was invalid (401), or the API key lacked a permission (403).',
    }),
    errors: t.exposeInt('errors', {
      description:
        'Number of requests that failed with an error, not including refused requests. A GraphQL response with errors counts as failed, even if its HTTP status is 200.',
    }),
  }),
});

/**
 * Returns the time range that a client requested. If the client omits `to`, the time range ends now. If the client
 * omits `from`, the time range starts 24 hours before its end.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` when the time range is empty or too long
 */
function usagePeriod(args: { from?: Date | null | undefined; to?: Date | null | undefined }) {
  // If the client omits `to`, the time range ends at the current time, rounded up to the next second. For each field
  // `usage` in a request, the gateway reads the clock again. Because `to` is rounded up, all fields `usage` in one
  // request usually get the same default time range.
  const to = args.to ?? new Date(Math.ceil(Date.now() / second) * second);
  const from = args.from ?? new Date(to.getTime() - defaultHours * hour);
  if (from >= to) throw invalidField('from', 'Must be before `to`', from);
  if (to.getTime() - from.getTime() > maxUsageDays * 24 * hour) {
    throw invalidField('from', `Must be at most ${maxUsageDays} days before \`to\``, from);
  }
  return { from, to };
}

builder.objectField(ApiKey, 'usage', (t) =>
  t.field({
    type: [UsageBucket],
    description:
      'The numbers of requests with the API key, sorted by hour, then by operation, and then by API. A new request appears in the usage after a few seconds. A request with an unknown API key does not count for any API key.',
    // For a period of 31 days, the field `usage` can return several rows for every hour. The field `usage` therefore
    // has a high cost, which limits how many times one GraphQL operation can select the field.
    complexity: { field: 200, multiplier: defaultHours, isHeavy: true },
    args: {
      from: t.arg({
        type: 'DateTime',
        description: `Start of the period. If the period starts during an hour, the result contains the numbers of requests in this whole hour. Default: ${defaultHours} hours before \`to\`. The period may be at most ${maxUsageDays} days long.`,
        validate: instant,
      }),
      to: t.arg({
        type: 'DateTime',
        description:
          'End of the period. If the period ends during an hour, the result contains the numbers of requests in this whole hour. Default: now.',
        validate: instant,
      }),
    },
    resolve: async ({ id }, args, context) =>
      createChunkedList(await context.services.usage.byHour({ apiKeyId: id, ...usagePeriod(args) }, context)),
  }),
);
