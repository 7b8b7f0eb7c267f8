import type { RateLimitWindow as Window } from '../src/rate-limit/types.ts';
import { ApiKey } from './api-key.ts';
import { builder } from './builder.ts';

const RateLimitWindow = builder.objectRef<Window>('RateLimitWindow').implement({
  description:
    "One of the two rolling windows of a key's rate limit. A request passes only when both windows allow it.",
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'The window: `hour` or `burst`, as in the headers `RateLimit-Policy` and `RateLimit`.',
    }),
    limit: t.exposeInt('limit', {
      description: 'The limit of the window in points. Most requests cost one point.',
    }),
    remaining: t.exposeInt('remaining', { description: 'Number of points that are left in the window now.' }),
    windowSeconds: t.exposeInt('windowSeconds', { description: 'The length of the window, in seconds.' }),
    resetAt: t.expose('resetAt', {
      type: 'DateTime',
      description:
        'When the oldest counted point leaves the window, so that a point becomes available. If no point is counted, the time is now.',
    }),
  }),
});

builder.objectField(ApiKey, 'rateLimit', (t) =>
  t.field({
    type: [RateLimitWindow],
    description:
      "Both windows of the key's rate limit now: `hour`, then `burst`. The state of the requesting key includes this request. Reading the state of another key costs the other key nothing.",
    resolve: async (key, _args, { services: { rateLimitOf } }) => {
      const { hour, burst } = await rateLimitOf(key);
      return [hour, burst];
    },
  }),
);
