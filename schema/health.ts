import packageJson from '../package.json' with { type: 'json' };
import { builder } from './builder.ts';

const Health = builder.objectRef<{ timestamp: Date }>('Health').implement({
  description: 'The state and version of the service.',
  fields: (t) => ({
    status: t.string({
      description: 'Always `ok`. A service that is not healthy does not answer at all.',
      resolve: () => 'ok',
    }),
    timestamp: t.expose('timestamp', {
      type: 'DateTime',
      description: 'The time at which the gateway created the response.',
    }),
    service: t.string({ description: 'Name of the service.', resolve: () => packageJson.name }),
    version: t.string({ description: 'Version of the service.', resolve: () => packageJson.version }),
  }),
});

builder.queryField('health', (t) =>
  t.field({
    type: Health,
    description:
      'Returns the state of the service, so that a client can check that the service answers. Every valid API key may read this field.',
    resolve: () => ({ timestamp: new Date() }),
  }),
);
