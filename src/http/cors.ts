import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';

/** How long a browser may remember the answer to a preflight request, in seconds. */
const preflightMaxAgeSeconds = 600;

/** The headers of answers that scripts of other origins may read. */
const exposedHeaders = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
  'Deprecation',
  'Sunset',
  'Link',
  'Brownout',
  'ETag',
];

/**
 * Lets browsers of the listed origins use the gateway (Fetch standard, "CORS protocol"). Preflight requests carry no
 * key: they are answered here, before the guards, and charged to nobody. Cookies play no part.
 *
 * @param origins exact origins, such as `https://app.example`
 */
export function allowOrigins(origins: readonly string[]): MiddlewareHandler {
  const answer = cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowHeaders: ['Content-Type', 'X-API-Key', 'X-Request-Id', 'If-None-Match', 'If-Match', 'traceparent'],
    exposeHeaders: exposedHeaders,
    maxAge: preflightMaxAgeSeconds,
  });
  return (c, next) => {
    const isPreflight = c.req.header('access-control-request-method') !== undefined;
    return c.req.method === 'OPTIONS' && !isPreflight ? next() : answer(c, next);
  };
}
