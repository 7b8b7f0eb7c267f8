import type { RateLimitWindow as Window } from '../src/rate-limit/types.ts';
import { ApiKey } from './api-key.ts';
import { builder } from './builder.ts';

const RateLimitWindow = builder.objectRef<Window>('RateLimitWindow').implement({
  description:
    'One of the two rolling time windows of the rate limit of an API key. The gateway allows a request only when both windows have enough rate limit points left.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description:
        'The name of the rate limit window: `hour` or `burst`, as in the headers `RateLimit-Policy` and `RateLimit`.',
    }),
    limit: t.exposeInt('limit', {
      description:
        'The number of rate limit points that the requests of an API key can use within the window. Most requests cost one rate limit point.',
    }),
    remaining: t.exposeInt('remaining', {
      description: 'Number of rate limit points that requests in this window can still use now.',
    }),
    windowSeconds: t.exposeInt('windowSeconds', {
      description: 'The length of the rate limit window, in seconds.',
    }),
    resetAt: t.expose('resetAt', {
      type: 'DateTime',
      description:
        'The time at which the oldest request of the API key leaves the rate limit window. From the time `resetAt` on, the points that the oldest request used are available again to new requests. If the window contains no request, `resetAt` is the current time.',
    }),
  }),
});

builder.objectField(ApiKey, 'rateLimit', (t) =>
  t.field({
    type: [RateLimitWindow],
    description:
      'The current state of the two rate limit windows of the API key: first the window `hour`, then the window `burst`. When an API key reads its own rate limit, the used points include the points of this request. A request that reads the rate limit of another API key uses no rate limit points of that API key.',
    resolve: async (key, _args, { services: { rateLimitOf } }) => {
      const { hour, burst } = await rateLimitOf(key);
      return [hour, burst];
    },
  }),
);
