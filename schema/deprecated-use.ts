import { type DeprecatedUse as Use, deprecatedUseDays } from '../src/usage/reads.ts';
import { ApiKey } from './api-key.ts';
import { builder } from './builder.ts';

const DeprecatedUse = builder.objectRef<Use>('DeprecatedUse').implement({
  description: 'How many requests an API key sent for one deprecated operation.',
  fields: (t) => ({
    operation: t.exposeString('operation', {
      description: 'The deprecated operation, such as `GET /locations/{locationId}/residents`.',
    }),
    requests: t.exposeInt('requests', {
      description: `Number of requests that used the deprecated operation in the last ${deprecatedUseDays} days, including failed requests.`,
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      description: 'The time of the last request that used the deprecated operation.',
    }),
    removedAt: t.expose('removedAt', {
      type: 'DateTime',
      description: 'The earliest time at which a release may remove the deprecated operation.',
    }),
    replacement: t.exposeString('replacement', {
      description: 'The operation that replaces the deprecated operation.',
    }),
  }),
});

builder.objectField(ApiKey, 'deprecations', (t) =>
  t.field({
    type: [DeprecatedUse],
    description: `The deprecated operations that the API key used in the last ${deprecatedUseDays} days. Requests appear in this list with a delay of a few seconds.`,
    // The field `deprecations` costs as much as the field `usage`, because both fields read all usage totals in a time
    // range. The multiplier for the costs of the fields within `deprecations` is small, because the list of deprecated
    // operations is short.
    complexity: { field: 200, multiplier: 5 },
    resolve: ({ id }, _, { services: { usage } }) => usage.deprecatedUse(id),
  }),
);
