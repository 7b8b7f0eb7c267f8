import packageJson from '../package.json' with { type: 'json' };
import { builder } from './builder.ts';

const Health = builder.objectRef<{ timestamp: Date }>('Health').implement({
  description: 'That the service answers (specification, "Health record").',
  fields: (t) => ({
    status: t.string({
      description: 'Always `ok`: a service that is not well does not answer.',
      resolve: () => 'ok',
    }),
    timestamp: t.expose('timestamp', { type: 'DateTime', description: 'When the answer was made.' }),
    service: t.string({ description: 'Name of the service.', resolve: () => packageJson.name }),
    version: t.string({ description: 'Version of the service.', resolve: () => packageJson.version }),
  }),
});

builder.queryField('health', (t) =>
  t.field({
    type: Health,
    description: 'That the service answers; for any valid key.',
    resolve: () => ({ timestamp: new Date() }),
  }),
);
