import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { addresses } from '../pages/layout.tsx';
import { createPages } from '../pages/routes.ts';
import { renderRest } from '../rest/adapter.ts';
import type { Brownout } from '../rest/deprecation.ts';
import { errorAnswer } from '../rest/envelope.ts';
import { createRestRouter } from '../rest/router.ts';
import { schema } from '../schema/index.ts';
import type { DatabaseState } from './database/types.ts';
import { respond } from './http/responses/response.ts';
import { ServiceError } from './errors/error-table.ts';
import { createGraphEndpoint } from './graphql/endpoint.ts';
import { graphRefusal, renderGraph } from './graphql/failures.ts';
import { createGraphExecutor, type OwnOfGraphContext } from './graphql/executor.ts';
import { charge, keySubject } from './http/guard/charge.ts';
import { createGuards } from './http/guard/guard.ts';
import type { GuardDependencies } from './http/guard/guard-dependencies.ts';
import type { RefuseKnown, RefusingSurface } from './http/guard/known-refusals.ts';
import { limitBody } from './http/bodies/body.ts';
import { largeBodyBytes } from './http/bodies/large-bodies.ts';
import { allowOrigins } from './http/guard/cors.ts';
import { requestHeader } from './http/request-header.ts';
import type { GatewayEnv } from './http/request-state.ts';

/** The maximum size of a GraphQL request in bytes. It is large enough for imports (docs/contract.md#endpoints). */
const maxGraphRequestBytes = 16 * 1024 * 1024;

/** The services that the app needs. Tests pass their own services. */
export interface AppDependencies extends GuardDependencies {
  /** Aborts when the gateway stops, and thereby ends subscriptions, which would keep the process running. */
  stopping: AbortSignal;
  /** The web origins whose scripts may call the gateway from a browser (CORS). */
  corsOrigins: readonly string[];
  /** The times at which deprecated REST routes are switched off. */
  brownouts: readonly Brownout[];
  /**
   * Returns the state of the database, whether rate limits work without Redis, and whether notices from other gateway
   * processes are late.
   */
  readiness: () => Promise<{
    database: DatabaseState;
    limiter: 'ok' | 'fallback';
    notices: 'ok' | 'late';
  }>;
}

/**
 * Creates the HTTP app of the gateway. It has the guards, REST, GraphQL, the pages, and the health probes for an
 * orchestrator, but does not listen on a port.
 */
export function createApp(dependencies: AppDependencies): {
  app: Hono<GatewayEnv>;
  /**
   * Refuses a request before the app runs if this process already knows that the request will be refused
   * (src/http/guard/known-refusals.ts).
   */
  refuseKnown: RefuseKnown;
} {
  const { limiter, readiness, stopping, services } = dependencies;
  const { authenticator } = services;
  const executor = createGraphExecutor(schema);
  const app = new Hono<GatewayEnv>();

  app.get('/livez', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const { database, limiter: limits, notices } = await readiness();
    // The gateway stays ready without Redis or with a read-only database, because gates still get their decisions.
    return c.json(
      { status: database, database, limiter: limits, notices },
      database === 'unavailable' ? 503 : 200,
    );
  });

  app.use(allowOrigins(dependencies.corsOrigins));
  const guards = createGuards(dependencies);
  // The pages are registered before the guards of REST and GraphQL. These guards require an API key, and the pages do
  // not.
  app.route('/', createPages({ schema, limit: guards.ofPublic(renderRest) }));

  app.use('/api/*', guards.ofSurface('rest', renderRest));
  app.route('/api', createRestRouter(executor, dependencies.brownouts));

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
    const own: OwnOfGraphContext = {
      charge: (points) => charge(limiter, state, keySubject(context.key), points),
      onKeysChanged: authenticator.onKeysChanged,
      stopping,
      state,
      showsCost: requestHeader(c, 'x-query-cost') === 'true',
    };
    // Object.assign is used because it is faster. In V8, an object literal with two spreads takes 13 µs, and
    // Object.assign takes 0.6 µs.
    const graphContext = Object.assign({}, context, own);
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

  const rest: RefusingSurface = { surface: 'rest', render: renderRest };
  const graphql: RefusingSurface = { surface: 'graphql', render: renderGraph };
  const refuseKnown = guards.refusingKnown(({ method, url = '' }) => {
    if (url.startsWith('/api/')) return url.startsWith(addresses.openApi) ? undefined : rest;
    // A GET request to /graphql is excluded. A browser uses it to load the explorer, which needs no API key.
    return method === 'POST' && (url === '/graphql' || url.startsWith('/graphql?')) ? graphql : undefined;
  });
  return { app, refuseKnown };
}
