import { type Context as HonoContext, Hono, type MiddlewareHandler } from 'hono';
import { accepts } from 'hono/accepts';
import { respond } from '../src/http/responses/response.ts';
import type { GraphExecutor } from '../src/graphql/executor.ts';
import type { Metrics } from '../src/observability/metrics.ts';
import { isJson, limitBody } from '../src/http/bodies/body.ts';
import { decodeUtf8 } from '../src/http/bodies/json.ts';
import { createJsonParser } from '../src/http/bodies/large-bodies.ts';
import { requestHeader } from '../src/http/request-header.ts';
import type { GatewayEnv } from '../src/http/request-state.ts';
import { createRouteHandler } from './adapter.ts';
import { type Brownout, createDeprecation } from './deprecation.ts';
import { errorAnswer, wrongMethod } from './envelope.ts';
import { type Route, routeName, routes } from './routes.ts';
import { twinMediaType } from './twin.ts';

/** The maximum size of a request body in bytes (docs/contract.md#endpoints). */
const maxBodyBytes = 1024 * 1024;

const honoPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1');

/**
 * Creates the error for a request that is rejected before execution. The response has the given HTTP status, such as
 * 413, instead of the status that the error code `VALIDATION_ERROR` usually has.
 */
const refusal = (status: number, message: string) =>
  errorAnswer({ code: 'VALIDATION_ERROR', message }, status);

/**
 * Returns the query parameters of a request. If a query parameter is repeated, only its first value is used
 * (docs/contract.md#filters).
 */
function firstValues(c: HonoContext): Record<string, string> {
  return c.req.url.includes('?') ? c.req.query() : {};
}

/**
 * Whether the client wants the equivalent GraphQL request instead of the usual REST response. The function first
 * searches the text of the header `Accept` for the media type of GraphQL requests, because this search is faster than
 * parsing the header.
 */
function asksForTwin(c: HonoContext<GatewayEnv>): boolean {
  if (!requestHeader(c, 'accept')?.includes(twinMediaType)) return false;
  const [json, twin] = ['application/json', twinMediaType];
  return accepts(c, { header: 'Accept', supports: [json, twin], default: json }) === twin;
}

/**
 * The request header in which a client can state the purpose of its request. The gateway ignores all values of this
 * header except `parity`, which means that the client sends the request only to compare REST with GraphQL.
 */
const purposeHeader = 'x-request-purpose';
const parityPurpose = 'parity';

/**
 * Returns the name of a request in usage records, which is usually the operation name. Two kinds of requests get a
 * prefix before the operation name: requests that ask for the equivalent GraphQL request, and requests that only
 * compare REST with GraphQL. Usage records without such a prefix show operators which clients still use the REST
 * endpoint for real work.
 */
function usageName(c: HonoContext, operation: string, asTwin: boolean): string {
  if (asTwin) return `twin of ${operation}`;
  return c.req.header(purposeHeader) === parityPurpose ? `parity of ${operation}` : operation;
}

/**
 * Creates the router that adds the deprecation headers to every response of a deprecated route. The app calls this
 * router before the request guard, so that error responses of the request guard also have the deprecation headers.
 *
 * @param brownouts the periods in which deprecated routes are switched off
 */
export function createDeprecationRouter(brownouts: readonly Brownout[]): Hono<GatewayEnv> {
  const router = new Hono<GatewayEnv>();
  for (const route of routes) {
    const deprecation = createDeprecation(route, brownouts);
    if (!deprecation) continue;
    router.on(route.method, honoPath(route.path), async (c, next) => {
      const headers = deprecation.headers(c.req.param());
      await next();
      for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
    });
  }
  return router;
}

/**
 * Creates the middleware of a deprecated route. During a brownout (a period in which deprecated routes are switched
 * off), the middleware answers with an error. Only a client that asks for the equivalent GraphQL request does not get
 * this error. Returns `undefined` for a route that is not deprecated.
 *
 * @param brownouts the periods in which deprecated routes are switched off
 */
function createBrownoutMiddleware(
  route: Route,
  brownouts: readonly Brownout[],
): MiddlewareHandler<GatewayEnv> | undefined {
  const deprecation = createDeprecation(route, brownouts);
  if (!deprecation) return undefined;
  return async function refuseInBrownout(c, next) {
    const { state } = c.var;
    const asTwin = asksForTwin(c);
    // This middleware already sets the operation name for the usage record, because some requests get an error response
    // before their route handler runs.
    state.operation = usageName(c, routeName(route), asTwin);
    const switchedOff = asTwin ? undefined : deprecation.brownoutAnswer(c.req.param());
    return switchedOff ? respond(switchedOff, state) : next();
  };
}

/**
 * Creates the router of the REST API. The router has a Hono route for each row of the endpoint table. A request with a
 * path or method that is not in the endpoint table gets an error.
 */
export function createRestRouter(
  executor: GraphExecutor,
  brownouts: readonly Brownout[],
  { countError }: Pick<Metrics, 'countError'>,
): Hono<GatewayEnv> {
  const router = new Hono<GatewayEnv>();
  const parse = createJsonParser();
  const limitToOneMiB = limitBody(maxBodyBytes, (c) =>
    respond(refusal(413, 'Request body is larger than 1 MiB'), c.var.state),
  );

  for (const route of routes) {
    const handle = createRouteHandler(executor, route, countError);
    const operation = routeName(route);
    const takesBody = route.method === 'POST' || route.method === 'PUT';
    const refuseInBrownout = createBrownoutMiddleware(route, brownouts);
    // The brownout middleware sets the operation name for the usage record. The brownout middleware runs before the
    // check of the body size. The usage record therefore contains the operation name even when the request body is too
    // large (status 413).
    if (refuseInBrownout) router.on(route.method, honoPath(route.path), refuseInBrownout);
    if (takesBody) router.on(route.method, honoPath(route.path), limitToOneMiB);
    router.on(route.method, honoPath(route.path), async (c) => {
      const [state, context] = [c.get('state'), c.get('context')];
      const asTwin = asksForTwin(c);
      state.operation = usageName(c, operation, asTwin);
      const bytes = takesBody ? await c.req.arrayBuffer() : new ArrayBuffer();
      if (bytes.byteLength > 0 && !isJson(requestHeader(c, 'content-type'))) {
        return respond(refusal(415, 'Content-Type must be application/json'), state);
      }
      const text = decodeUtf8(bytes);
      const body = text === '' ? undefined : await parse(text, context.key.id);
      // The gateway checks the API key again, because the API key may have been revoked while the gateway waited for
      // the request body.
      if (takesBody) await context.reauthenticate();
      const request = {
        params: c.req.param(),
        query: firstValues(c),
        body,
        asTwin,
        ifNoneMatch: requestHeader(c, 'if-none-match'),
        ifMatch: requestHeader(c, 'if-match'),
      };
      return respond(await handle(request, context), state);
    });
  }

  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = routes.filter((route) => route.path === path).map((route): string => route.method);
    const allowed = methods.includes('GET') ? ['HEAD', ...methods] : methods;
    router.all(honoPath(path), (c) => {
      const { state } = c.var;
      state.operation = `${c.req.method} ${path}`;
      return respond(wrongMethod(c.req.method, allowed), state);
    });
  }

  router.all('*', (c) => {
    const message = `No such path: ${c.req.path.slice(0, 200)}`;
    return respond(errorAnswer({ code: 'NOT_FOUND', message }), c.var.state);
  });
  return router;
}
