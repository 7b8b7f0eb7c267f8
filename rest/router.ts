import type { GraphQLSchema } from 'graphql';
import { type Context as HonoContext, Hono } from 'hono';
import { respond } from '../src/answer.ts';
import { ServiceError } from '../src/errors.ts';
import { limitBody } from '../src/limit-body.ts';
import { isJson } from '../src/media-type.ts';
import type { GatewayEnv } from '../src/request-state.ts';
import { createRouteHandler } from './adapter.ts';
import { errorAnswer } from './envelope.ts';
import { routes } from './routes.ts';

/** The largest request body, in bytes (decisions: 1 MiB). */
const largestBody = 1024 * 1024;

const honoPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1');

/** Why a request is not looked at, where the status says more than the code. */
const refusal = (status: number, message: string) =>
  errorAnswer({ code: 'VALIDATION_ERROR', message }, status);

/** What decoding leaves in place of bytes that are not UTF-8, and of text that was lost before it came here. */
const replacementCharacter = '\u{fffd}';

/**
 * The JSON of a request's body; undefined when it has none.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` with no field
 */
function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    if (!text.includes(replacementCharacter)) return JSON.parse(text) as unknown;
  } catch {
    // The parser's words could repeat the body: the client gets ours.
  }
  throw new ServiceError('VALIDATION_ERROR', 'Request body must be valid JSON in UTF-8');
}

/** The first value of each query parameter (decisions, "filters"). */
function firstValues(c: HonoContext): Record<string, string> {
  return c.req.url.includes('?') ? c.req.query() : {};
}

/** The REST surface: the endpoint table as Hono routes, and an answer for everything that is not in it. */
export function createRestRouter(schema: GraphQLSchema): Hono<GatewayEnv> {
  const router = new Hono<GatewayEnv>();
  const limitToOneMiB = limitBody(largestBody, (c) =>
    respond(refusal(413, 'Request body is larger than 1 MiB'), c.var.state),
  );

  for (const route of routes) {
    const handle = createRouteHandler(schema, route);
    const operation = `${route.method} ${route.path}`;
    const takesBody = route.method === 'POST' || route.method === 'PUT';
    if (takesBody) router.on(route.method, honoPath(route.path), limitToOneMiB);
    router.on(route.method, honoPath(route.path), async (c) => {
      const { state, context } = c.var;
      state.operation = operation;
      const text = takesBody ? await c.req.text() : '';
      if (text !== '' && !isJson(c.req.header('content-type'))) {
        return respond(refusal(415, 'Content-Type must be application/json'), state);
      }
      const request = { params: c.req.param(), query: firstValues(c), body: parseBody(text) };
      return respond(await handle(request, context), state);
    });
  }

  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = routes.filter((route) => route.path === path).map((route): string => route.method);
    const allow = (methods.includes('GET') ? ['HEAD', ...methods] : methods).join(', ');
    router.all(honoPath(path), (c) => {
      const { state } = c.var;
      state.operation = `${c.req.method} ${path}`;
      const answer = refusal(405, `Method ${c.req.method} is not allowed here`);
      return respond({ ...answer, headers: { Allow: allow } }, state);
    });
  }

  router.all('*', (c) => {
    const message = `No such path: ${c.req.path.slice(0, 200)}`;
    return respond(errorAnswer({ code: 'NOT_FOUND', message }), c.var.state);
  });
  return router;
}
