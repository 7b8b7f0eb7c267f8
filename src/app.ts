import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { addresses } from '../pages/layout.tsx';
import { createPages } from '../pages/routes.ts';
import { renderRest } from '../rest/adapter.ts';
import type { Brownout } from '../rest/deprecation.ts';
import { errorAnswer } from '../rest/envelope.ts';
import { createRestRouter } from '../rest/router.ts';
import { schema } from '../schema/index.ts';
import { type Context, ownOfContext } from './context.ts';
import type { DatabaseState } from './database/types.ts';
import { type Answer, respond } from './http/response.ts';
import { type ErrorSource, maskError } from './errors/masking.ts';
import { ServiceError } from './errors/error-table.ts';
import { createGraphEndpoint } from './graphql/endpoint.ts';
import { graphFailure, graphRefusal } from './graphql/failures.ts';
import { createGraphExecutor, type OwnOfGraphContext, ownOfGraphContext } from './graphql/executor.ts';
import { charge, keySubject } from './http/charge.ts';
import { createGuards } from './http/guard.ts';
import type { GuardDependencies } from './http/guard-dependencies.ts';
import type { RefuseKnown, RefusingSurface } from './http/known-refusals.ts';
import { limitBody } from './http/body.ts';
import { largeBodyBytes } from './http/large-bodies.ts';
import { compressJson } from './http/compression.ts';
import { allowOrigins } from './http/cors.ts';
import { requestHeader } from './http/request-header.ts';
import { createTemplate } from './template.ts';
import type { GatewayEnv } from './http/request-state.ts';

/** The largest GraphQL request, in bytes (decisions: 16 MiB, for imports). */
const maxGraphRequestBytes = 16 * 1024 * 1024;

/** What an app is made of; tests bring their own. */
export interface AppDependencies extends GuardDependencies {
  /** Ends what would not end by itself: subscriptions. */
  stopping: AbortSignal;
  /** The origins whose browsers may use the gateway. */
  corsOrigins: readonly string[];
  /** When deprecated REST routes are switched off for a while. */
  brownouts: readonly Brownout[];
  /** Whether the database answers, the limiter has to do without Redis, and notices of other processes are late. */
  readiness: () => Promise<{
    database: DatabaseState;
    limiter: 'ok' | 'fallback';
    notices: 'ok' | 'late';
  }>;
}

/** Shows an error in the form of the graph: a response without `data` (GraphQL over HTTP). */
const renderGraph = (error: unknown, source: ErrorSource): Answer => graphFailure(maskError(error, source));

/**
 * The gateway without its listener: one guard, both surfaces, and the probes of an orchestrator.
 */
export function createApp(dependencies: AppDependencies): {
  app: Hono<GatewayEnv>;
  /** Answers before the app what it would refuse (src/http/known-refusals.ts). */
  refuseKnown: RefuseKnown;
} {
  const { limiter, readiness, stopping, services } = dependencies;
  const { authenticator } = services;
  const executor = createGraphExecutor(schema);
  const app = new Hono<GatewayEnv>();

  app.get('/livez', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const { database, limiter: limits, notices } = await readiness();
    // Without Redis, or on a database that is read-only, gates still get their answers: to take the gateway out of
    // service would make things worse.
    return c.json(
      { status: database, database, limiter: limits, notices },
      database === 'unavailable' ? 503 : 200,
    );
  });

  if (dependencies.corsOrigins.length > 0) app.use(allowOrigins(dependencies.corsOrigins));
  const guards = createGuards(dependencies);
  // Before the guards of the surfaces, which need a key.
  app.route('/', createPages({ schema, limit: guards.ofPublic(renderRest) }));

  app.use('/api/*', guards.ofSurface('rest', renderRest));
  app.route('/api', createRestRouter(executor, dependencies.brownouts));

  const graphContextOf = createTemplate<Context, OwnOfGraphContext>(services, [
    ...ownOfContext,
    ...ownOfGraphContext,
  ]);
  const graph = createGraphEndpoint(schema, executor, dependencies.metrics);
  app.use('/graphql/*', guards.ofSurface('graphql', renderGraph));
  const limitToOneMiB = limitBody(largeBodyBytes, ({ var: { state } }) =>
    respond(graphRefusal(413, 'Request is larger than 1 MiB, which takes a key that may import'), state),
  );
  const limitImport = limitBody(maxGraphRequestBytes, ({ var: { state } }) =>
    respond(graphRefusal(413, 'Request is larger than 16 MiB'), state),
  );
  app.use('/graphql', (c, next) => {
    const { permissions } = c.get('context').key;
    const mayImport = permissions.has('WRITE_WHITELIST') || permissions.has('WRITE_ACTIVITY');
    return (mayImport ? limitImport : limitToOneMiB)(c, next);
  });
  app.all('/graphql', async (c) => {
    const [state, context] = [c.get('state'), c.get('context')];
    const graphContext = graphContextOf(
      {
        charge: (points) => charge(limiter, state, keySubject(context.key), points),
        onKeysChanged: authenticator.onKeysChanged,
        stopping,
        state,
        showsCost: requestHeader(c, 'x-query-cost') === 'true',
      },
      context,
    );
    const response = await graph.handle(c.req.raw, graphContext, (answer) => respond(answer, state));
    return response === state.response
      ? response
      : compressJson(response, state.acceptEncoding, context.holdBytes);
  });
  app.all('/graphql/*', ({ var: { state } }) =>
    respond(renderGraph(new ServiceError('NOT_FOUND', 'No such path'), state), state),
  );

  app.onError((error, { var: { state } }) => {
    const render = state?.surface === 'graphql' ? renderGraph : renderRest;
    return respond(render(error, state ?? { requestId: randomUUID(), log: dependencies.log }), state);
  });
  app.notFound(() => respond(errorAnswer({ code: 'NOT_FOUND', message: 'No such path' })));

  const rest: RefusingSurface = { surface: 'rest', render: renderRest };
  const graphql: RefusingSurface = { surface: 'graphql', render: renderGraph };
  const refuseKnown = guards.refusingKnown(({ method, url = '' }) => {
    if (url.startsWith('/api/')) return url.startsWith(addresses.openApi) ? undefined : rest;
    // A GET of the graph may be for a public page.
    return method === 'POST' && (url === '/graphql' || url.startsWith('/graphql?')) ? graphql : undefined;
  });
  return { app, refuseKnown };
}
