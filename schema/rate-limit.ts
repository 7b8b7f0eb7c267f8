import type { RateLimitWindow as Window } from '../src/rate-limit/types.ts';
import { ApiKey } from './api-key.ts';
import { builder } from './builder.ts';

const RateLimitWindow = builder.objectRef<Window>('RateLimitWindow').implement({
  description:
    'One of the two rolling windows in which the requests of a key are counted. Both must have room for a request to pass.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'The window: `hour` or `burst`, as in the headers `RateLimit-Policy` and `RateLimit`.',
    }),
    limit: t.exposeInt('limit', {
      description: 'Points that the window holds; most requests cost one point.',
    }),
    remaining: t.exposeInt('remaining', { description: 'Points that the window still allows now.' }),
    windowSeconds: t.exposeInt('windowSeconds', { description: 'The length of the window, in seconds.' }),
    resetAt: t.expose('resetAt', {
      type: 'DateTime',
      description:
        'When the oldest counted point leaves the window and makes room for another; now when none is counted.',
    }),
  }),
});

builder.objectField(ApiKey, 'rateLimit', (t) =>
  t.field({
    type: [RateLimitWindow],
    description:
      'The present state of both windows of the key: `hour`, then `burst`. For the key that asks, this request is counted already; to read the state of another key takes nothing from its budget.',
    resolve: async (key, _args, { rateLimitOf }) => {
      const { hour, burst } = await rateLimitOf(key);
      return [hour, burst];
    },
  }),
);
