import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { requestIdOf } from './request-id.ts';
import { ServiceError, shown } from '../../errors/error-table.ts';

/** How long a browser may cache the response to a preflight request, in seconds. */
const preflightMaxAgeSeconds = 600;

/** The request headers that scripts of other web origins may send. */
const allowedHeaders = [
  'Content-Type',
  'X-API-Key',
  'X-Request-Id',
  'X-Request-Purpose',
  'X-Query-Cost',
  'If-None-Match',
  'If-Match',
  'traceparent',
  'tracestate',
];

/** The response headers that scripts of other web origins may read. */
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
 * Creates the error for a refused preflight request. Developers can read the error in the network tab of the browser.
 * The error message names the environment variable that the operator must change. The error message that the browser
 * itself shows cannot contain the name of this environment variable.
 */
function refusedPreflight(origin: string): ServiceError {
  const message =
    'This origin may not call the gateway from a browser; its operator can list it in CORS_ORIGINS';
  return new ServiceError('FORBIDDEN', message, { field: 'Origin', value: shown(origin) });
}

/**
 * Allows scripts of the listed web origins to call the gateway from a browser (Fetch standard, "CORS protocol"). The
 * gateway answers preflight requests before the request guards run, because preflight requests have no API key.
 * Preflight requests cost no rate limit points. The gateway uses no cookies, so its CORS responses do not allow
 * credentials.
 *
 * @param origins the exact web origins that are allowed, such as `https://app.example`. If the list of allowed web
 *   origins is empty, scripts of other origins cannot call the gateway
 * @throws {ServiceError} `FORBIDDEN` for a preflight request from an origin that is not in `origins`
 */
export function allowOrigins(origins: readonly string[]): MiddlewareHandler {
  const answer = cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowHeaders: allowedHeaders,
    exposeHeaders: exposedHeaders,
    maxAge: preflightMaxAgeSeconds,
  });
  return (c, next) => {
    const isPreflight =
      c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined;
    const origin = c.req.header('origin') ?? '';
    if (isPreflight && !origins.includes(origin)) throw refusedPreflight(origin);
    if (isPreflight) c.header('X-Request-Id', requestIdOf(c.req.header('x-request-id')));
    const isAnswered = origins.length > 0 && (isPreflight || c.req.method !== 'OPTIONS');
    return isAnswered ? answer(c, next) : next();
  };
}
