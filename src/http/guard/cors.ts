import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { ServiceError, shown } from '../../errors/error-table.ts';

/** How long a browser may remember the answer to a preflight request, in seconds. */
const preflightMaxAgeSeconds = 600;

/** The response headers that scripts of other origins may read. */
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
 * Creates the error for a refused preflight request. Developers can read it in the browser's network tab. The message
 * of the browser itself does not name the setting to change.
 */
function refusedPreflight(origin: string): ServiceError {
  const message =
    'This origin may not call the gateway from a browser; its operator can list it in CORS_ORIGINS';
  return new ServiceError('FORBIDDEN', message, { field: 'Origin', value: shown(origin) });
}

/**
 * Allows scripts of the listed origins to call the gateway from a browser (Fetch standard, "CORS protocol"). Preflight
 * requests have no API key. They are answered before the guards run and cost no rate limit points. Cookies are not
 * used.
 *
 * @param origins exact origins, such as `https://app.example`. If the list is empty, no other origin may call the
 *   gateway
 * @throws {ServiceError} `FORBIDDEN` for a preflight request of an origin that is not listed
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
    const isPreflight =
      c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined;
    const origin = c.req.header('origin') ?? '';
    if (isPreflight && !origins.includes(origin)) throw refusedPreflight(origin);
    const isAnswered = origins.length > 0 && (isPreflight || c.req.method !== 'OPTIONS');
    return isAnswered ? answer(c, next) : next();
  };
}
