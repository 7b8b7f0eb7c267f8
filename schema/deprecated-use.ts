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
    replacement: t.exposeString('replacement', {
      description: 'The operation that replaces a deprecated operation.',
    }),
  }),
});

builder.objectField(ApiKey, 'deprecations', (t) =>
  t.field({
    type: [DeprecatedUse],
    description: `The deprecated operations that the key used in the last ${deprecatedUseDays} days. A request is counted within a few seconds.`,
    // The field `deprecations` costs as much as the field `usage`, because both fields read all usage totals in a time
    // range. The cost of each field within `deprecations` is multiplied only by 5, because the list `deprecations` has
    // few rows.
    complexity: { field: 200, multiplier: 5 },
    resolve: ({ id }, _, { services: { usage } }) => usage.deprecatedUse(id),
  }),
);
