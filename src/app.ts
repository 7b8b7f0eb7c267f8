import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import { jsonHeaders, type RestError } from '../rest/envelope.ts';
import { createRestRouter, errorResponse } from '../rest/router.ts';
import { schema } from '../schema/index.ts';
import type { Services } from './context.ts';
import { type ErrorSource, maskError } from './error-masking.ts';
import { type ErrorCode, errorStatus, ServiceError } from './errors.ts';
import { createGraphEndpoint } from './graph-endpoint.ts';
import { charge, createGuard, keySubject } from './guard.ts';
import { limitBody } from './limit-body.ts';
import type { RateLimiter } from './limiter.ts';
import type { GatewayEnv } from './request-state.ts';
import type { UsageRecorder } from './usage.ts';

/** The largest GraphQL request, in bytes (decisions: 16 MiB, for imports). */
const largestGraphRequest = 16 * 1024 * 1024;

/** What an app is made of; tests bring their own. */
export interface AppDependencies {
  services: Services;
  limiter: RateLimiter;
  usage: UsageRecorder;
  log: Logger;
  trustProxy: boolean;
  /** Ends what would not end by itself: subscriptions. */
  stopping: AbortSignal;
  /** Whether the database answers, and whether the limiter has to do without Redis. */
  readiness: () => Promise<{ database: 'ok' | 'unavailable'; limiter: 'ok' | 'fallback' }>;
}

type Headers = Record<string, string>;

/** Shows an error in the form of the REST surface. */
function renderRest(error: unknown, source: ErrorSource, headers?: Headers): Response {
  const { message, extensions } = maskError(error, source);
  const { code, details, requestId } = extensions as Pick<RestError, 'code' | 'details' | 'requestId'>;
  return errorResponse({ message, code, details, requestId }, undefined, headers);
}

/** Shows an error in the form of the graph: a response without `data` (GraphQL over HTTP). */
function renderGraph(error: unknown, source: ErrorSource, headers?: Headers, status?: number): Response {
  const masked = maskError(error, source);
  return new Response(JSON.stringify({ errors: [masked] }), {
    status: status ?? errorStatus[masked.extensions.code as ErrorCode],
    headers: { ...jsonHeaders, ...headers },
  });
}

/**
 * The gateway without its listener: one guard, both surfaces, and the probes of an orchestrator.
 */
export function createApp(dependencies: AppDependencies): Hono<GatewayEnv> {
  const { limiter, readiness, stopping, services } = dependencies;
  const { authenticator } = services;
  const app = new Hono<GatewayEnv>();

  app.get('/livez', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const { database, limiter: limits } = await readiness();
    // Without Redis the gateway still answers: taking it out of service would make things worse.
    return c.json({ status: database, database, limiter: limits }, database === 'ok' ? 200 : 503);
  });

  app.use('/api/*', createGuard({ ...dependencies, surface: 'rest', render: renderRest }));
  app.route('/api', createRestRouter(schema));

  const graph = createGraphEndpoint({ schema });
  app.get('/graphql', async (c, next) => {
    const wantsPage = c.req.header('accept')?.includes('text/html') && !c.req.query('query');
    return wantsPage ? c.html(graph.page()) : next();
  });
  app.use('/graphql/*', createGuard({ ...dependencies, surface: 'graphql', render: renderGraph }));
  app.use(
    '/graphql',
    limitBody(largestGraphRequest, (c) =>
      renderGraph(
        new ServiceError('VALIDATION_ERROR', 'Request is larger than 16 MiB'),
        c.get('state'),
        {},
        413,
      ),
    ),
  );
  app.all('/graphql', (c) => {
    const { state, context } = c.var;
    return graph.handle(c.req.raw, {
      ...context,
      charge: (points) => charge(limiter, state, keySubject(context.key), points),
      reauthenticate: async () => authenticator.authenticate(c.req.header('x-api-key')),
      onKeysChanged: authenticator.onKeysChanged,
      stopping,
      operationIs: (name) => {
        state.operation = name;
      },
    });
  });
  app.all('/graphql/*', (c) => renderGraph(new ServiceError('NOT_FOUND', 'No such path'), c.var.state));

  // Thrown behind the guard; the guard adds its headers to what is rendered here.
  app.onError((error, c) => {
    const state = c.var.state ?? { requestId: randomUUID(), log: dependencies.log };
    return c.var.state?.surface === 'graphql' ? renderGraph(error, state) : renderRest(error, state);
  });
  app.notFound(() => errorResponse({ code: 'NOT_FOUND', message: 'No such path' }));
  return app;
}
