import { type DeprecatedUse as Use, deprecatedUseDays } from '../src/usage/reads.ts';
import { ApiKey } from './api-key.ts';
import { builder } from './builder.ts';

const DeprecatedUse = builder.objectRef<Use>('DeprecatedUse').implement({
  description: 'How often a key used an operation that will be removed.',
  fields: (t) => ({
    operation: t.exposeString('operation', {
      description: 'The operation, such as `GET /locations/{locationId}/residents`.',
    }),
    requests: t.exposeInt('requests', {
      description: `Requests in the last ${deprecatedUseDays} days, whatever their end.`,
    }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', description: 'The time of the last one.' }),
    removedAt: t.expose('removedAt', { type: 'DateTime', description: 'When the operation may be removed.' }),
    replacement: t.exposeString('replacement', { description: 'What to use in its place.' }),
  }),
});

builder.objectField(ApiKey, 'deprecations', (t) =>
  t.field({
    type: [DeprecatedUse],
    description: `The operations that will be removed and that the key used in the last ${deprecatedUseDays} days. A request counts within a few seconds.`,
    // Reads all records of its time, like `usage`; the rows of its answer are few.
    complexity: { field: 200, multiplier: 5 },
    resolve: ({ id }, _, { usage }) => usage.deprecatedUse(id),
  }),
);
