import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { renderRest } from '../rest/adapter.ts';
import { errorAnswer } from '../rest/envelope.ts';
import { createRestRouter } from '../rest/router.ts';
import { schema } from '../schema/index.ts';
import { type Answer, respond } from './answer.ts';
import { type ErrorSource, maskError } from './error-masking.ts';
import { type ErrorCode, errorStatus, ServiceError } from './errors.ts';
import { createGraphEndpoint, graphRefusal } from './graph-endpoint.ts';
import { serveGraphiql } from './graphiql.ts';
import type { GraphRequestContext } from './graph-executor.ts';
import { charge, createGuard, type GuardDependencies, keySubject } from './guard.ts';
import { limitBody } from './limit-body.ts';
import type { GatewayEnv } from './request-state.ts';

/** The largest GraphQL request, in bytes (decisions: 16 MiB, for imports). */
const largestGraphRequest = 16 * 1024 * 1024;

/** What an app is made of; tests bring their own. */
export interface AppDependencies extends GuardDependencies {
  /** Ends what would not end by itself: subscriptions. */
  stopping: AbortSignal;
  /** Whether the database answers, and whether the limiter has to do without Redis. */
  readiness: () => Promise<{ database: 'ok' | 'unavailable'; limiter: 'ok' | 'fallback' }>;
}

/** Shows an error in the form of the graph: a response without `data` (GraphQL over HTTP). */
function renderGraph(error: unknown, source: ErrorSource): Answer {
  const masked = maskError(error, source);
  const status = errorStatus[masked.extensions.code as ErrorCode];
  return { status, body: JSON.stringify({ errors: [masked] }) };
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
    return wantsPage ? serveGraphiql(c) : next();
  });
  app.use('/graphql/*', createGuard({ ...dependencies, surface: 'graphql', render: renderGraph }));
  app.use(
    '/graphql',
    limitBody(largestGraphRequest, (c) =>
      respond(graphRefusal(413, 'Request is larger than 16 MiB'), c.var.state),
    ),
  );
  app.all('/graphql', (c) => {
    const { state, context } = c.var;
    const graphContext: GraphRequestContext = {
      ...context,
      charge: (points) => charge(limiter, state, keySubject(context.key), points),
      reauthenticate: async () => authenticator.authenticate(c.req.header('x-api-key')),
      onKeysChanged: authenticator.onKeysChanged,
      stopping,
      operationIs: (name) => {
        state.operation = name;
      },
    };
    return graph.handle(c.req.raw, graphContext, (answer) => respond(answer, state));
  });
  app.all('/graphql/*', ({ var: { state } }) =>
    respond(renderGraph(new ServiceError('NOT_FOUND', 'No such path'), state), state),
  );

  app.onError((error, { var: { state } }) => {
    const render = state?.surface === 'graphql' ? renderGraph : renderRest;
    return respond(render(error, state ?? { requestId: randomUUID(), log: dependencies.log }), state);
  });
  app.notFound(() => respond(errorAnswer({ code: 'NOT_FOUND', message: 'No such path' })));
  return app;
}
