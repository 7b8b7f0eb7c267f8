import type { RateLimitWindow as Window } from '../src/rate-limit/types.ts';
import { ApiKey } from './api-key.ts';
import { builder } from './builder.ts';

const RateLimitWindow = builder.objectRef<Window>('RateLimitWindow').implement({
  description:
    "One of the two rolling windows of a key's rate limit. The gateway allows a request only when both windows have enough points left.",
  fields: (t) => ({
    name: t.exposeString('name', {
      description:
        'The name of the window: `hour` or `burst`, as in the headers `RateLimit-Policy` and `RateLimit`.',
    }),
    limit: t.exposeInt('limit', {
      description:
        'The number of rate limit points that requests can use within the window. Most requests cost one point.',
    }),
    remaining: t.exposeInt('remaining', {
      description: 'Number of rate limit points that are left in the window now.',
    }),
    windowSeconds: t.exposeInt('windowSeconds', { description: 'The length of the window, in seconds.' }),
    resetAt: t.expose('resetAt', {
      type: 'DateTime',
      description:
        'The time at which the oldest used rate limit point leaves the window, so that requests can use this point again. If no request used a point within the window, `resetAt` is the current time.',
    }),
  }),
});

builder.objectField(ApiKey, 'rateLimit', (t) =>
  t.field({
    type: [RateLimitWindow],
    description:
      "The current state of the two windows of the key's rate limit: first `hour`, then `burst`. When a key reads its own rate limit, the used points include the points of this request. A request for the rate limit of another key uses no points of the other key.",
    resolve: async (key, _args, { services: { rateLimitOf } }) => {
      const { hour, burst } = await rateLimitOf(key);
      return [hour, burst];
    },
  }),
);
