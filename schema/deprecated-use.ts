import { type DeprecatedUse as Use, deprecatedUseDays } from '../src/usage/reads.ts';
import { ApiKey } from './api-key.ts';
import { builder } from './builder.ts';

const DeprecatedUse = builder.objectRef<Use>('DeprecatedUse').implement({
  description: 'How often a key used a deprecated operation.',
  fields: (t) => ({
    operation: t.exposeString('operation', {
      description: 'The operation, such as `GET /locations/{locationId}/residents`.',
    }),
    requests: t.exposeInt('requests', {
      description: `Number of requests in the last ${deprecatedUseDays} days, with any outcome.`,
    }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', description: 'The time of the last request.' }),
    removedAt: t.expose('removedAt', { type: 'DateTime', description: 'When the operation may be removed.' }),
    replacement: t.exposeString('replacement', { description: 'The operation to use instead.' }),
  }),
});

builder.objectField(ApiKey, 'deprecations', (t) =>
  t.field({
    type: [DeprecatedUse],
    description: `The deprecated operations that the key used in the last ${deprecatedUseDays} days. A request is counted within a few seconds.`,
    // The cost is as high as for `usage`, because the field reads all usage records in the time range. The multiplier
    // is low, because the result has few rows.
    complexity: { field: 200, multiplier: 5 },
    resolve: ({ id }, _, { services: { usage } }) => usage.deprecatedUse(id),
  }),
);
