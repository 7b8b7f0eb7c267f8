import { Hono } from 'hono';
import { addresses } from '../pages/layout.tsx';
import { createPages } from '../pages/routes.ts';
import { renderRest } from '../rest/adapter.ts';
import { type Brownout, mayBeDeprecated } from '../rest/deprecation.ts';
import { errorAnswer, wrongMethod } from '../rest/envelope.ts';
import { createDeprecationRouter, createRestRouter } from '../rest/router.ts';
import { schema } from '../schema/index.ts';
import type { DatabaseState } from './database/types.ts';
import { type Answer, respond } from './http/responses/response.ts';
import { ServiceError } from './errors/error-table.ts';
import { createGraphEndpoint } from './graphql/endpoint.ts';
import { graphRefusal, renderGraph } from './graphql/failures.ts';
import { createGraphExecutor, type OwnOfGraphContext } from './graphql/executor.ts';
import { chargeWhole, keySubject } from './http/guard/charge.ts';
import { createGuards } from './http/guard/guard.ts';
import type { GuardDependencies } from './http/guard/guard-dependencies.ts';
import type { RefuseKnown, RefusingSurface } from './http/guard/known-refusals.ts';
import { limitBody } from './http/bodies/body.ts';
import { largeBodyBytes } from './http/bodies/large-bodies.ts';
import { allowOrigins } from './http/guard/cors.ts';
import { requestHeader } from './http/request-header.ts';
import type { GatewayEnv } from './http/request-state.ts';

/**
 * The maximum size in bytes of a GraphQL request whose API key has a permission for imports or for parking events. An
 * API key without a permission for imports or parking events can send GraphQL requests of at most 1 MiB. 16 MiB is
 * enough for a large import (docs/contract.md#endpoints).
 */
const maxGraphRequestBytes = 16 * 1024 * 1024;

/** The services that the HTTP app needs. */
interface AppDependencies extends GuardDependencies {
  /**
   * When the gateway stops, this abort signal ends all GraphQL subscriptions, because the process cannot exit while a
   * subscription is open.
   */
  stopping: AbortSignal;
  /** The web origins whose scripts may call the gateway from a browser (CORS). */
  corsOrigins: readonly string[];
  /** The time intervals (brownouts) during which deprecated REST routes are temporarily switched off. */
  brownouts: readonly Brownout[];
  /**
   * Returns the states that the health probe /readyz reports: the states of the database, of the rate limiter, and of
   * the notices that gateway processes send each other. `limiter` is `fallback` while the process counts rate limit
   * points in its own memory instead of Redis. `notices` is `late` while Redis is unreachable, because gateway
   * processes use Redis to notify each other about changes.
   */
  readiness: () => Promise<{
    database: DatabaseState;
    limiter: 'ok' | 'fallback';
    notices: 'ok' | 'late';
  }>;
}

/** Creates the response to a health probe. */
const probeAnswer = (states: Record<string, string>, status = 200): Answer => ({
  status,
  body: JSON.stringify(states),
});

/**
 * Creates the HTTP app of the gateway. The app contains the request guards, REST, GraphQL, the public pages, and the
 * health probes for an orchestrator. The app itself does not listen on a port.
 */
export function createApp(dependencies: AppDependencies): {
  app: Hono<GatewayEnv>;
  /**
   * Refuses a request before it reaches the app, for example because its API key is invalid
   * (src/http/guard/known-refusals.ts).
   */
  refuseKnown: RefuseKnown;
  /** Logs how many requests without a valid API key the gateway has refused since the last log line about refusals. */
  logRefusals(): void;
} {
  const { limiter, readiness, stopping, services } = dependencies;
  const { authenticator } = services;
  const executor = createGraphExecutor(schema);
  const guards = createGuards(dependencies);
  const app = new Hono<GatewayEnv>();

  app.get('/livez', (c) => respond(probeAnswer({ status: 'ok' }), guards.stateOf(c)));
  app.get('/readyz', async (c) => {
    const { database, limiter: limits, notices } = await readiness();
    // /readyz answers with status 200 even without Redis or with a read-only database, because the gateway can still
    // decide whether vehicles may enter.
    const states = { status: database, database, limiter: limits, notices };
    return respond(probeAnswer(states, database === 'unavailable' ? 503 : 200), guards.stateOf(c));
  });

  app.use(allowOrigins(dependencies.corsOrigins));
  // The public pages need no API key, so they are registered before the guards of REST and GraphQL, which require an
  // API key.
  const publicGuard = guards.ofPublic(renderRest);
  app.route('/', createPages({ schema, limit: publicGuard }));
  // The explorer page and the GraphQL endpoint share one path, so this path must also accept POST requests.
  const pagePaths = Object.values(addresses).filter((path) => path !== addresses.explorer);
  for (const path of ['/livez', '/readyz', ...pagePaths]) {
    app.all(path, publicGuard, (c) => respond(wrongMethod(c.req.method, ['HEAD', 'GET']), c.var.state));
  }

  app.route('/api', createDeprecationRouter(dependencies.brownouts));
  app.use('/api/*', guards.ofSurface('rest', renderRest));
  app.route('/api', createRestRouter(executor, dependencies.brownouts, dependencies.metrics));

  const graph = createGraphEndpoint(schema, executor, dependencies.metrics);
  app.use('/graphql/*', guards.ofSurface('graphql', renderGraph));
  const limitToOneMiB = limitBody(largeBodyBytes, ({ var: { state } }) =>
    respond(
      graphRefusal(413, 'Requests over 1 MiB need an API key with WRITE_WHITELIST or WRITE_ACTIVITY'),
      state,
    ),
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
      charge: (points) => chargeWhole(limiter, state, keySubject(context.key), points),
      onKeysChanged: authenticator.onKeysChanged,
      stopping,
      state,
      showsCost: requestHeader(c, 'x-query-cost') === 'true',
    };
    // `Object.assign` merges the two context objects, because in V8 it is about 20 times as fast as the spread syntax.
    const graphContext = Object.assign({}, context, own);
    return graph.handle(c.req.raw, graphContext, (answer) => respond(answer, state));
  });
  app.all('/graphql/*', ({ var: { state } }) =>
    respond(renderGraph(new ServiceError('NOT_FOUND', 'No such path'), state), state),
  );

  app.onError((error, c) => {
    const state = guards.stateOf(c);
    return respond((state.surface === 'graphql' ? renderGraph : renderRest)(error, state), state);
  });
  app.notFound((c) =>
    respond(errorAnswer({ code: 'NOT_FOUND', message: 'No such path' }), guards.stateOf(c)),
  );

  const rest: RefusingSurface = { surface: 'rest', render: renderRest };
  const graphql: RefusingSurface = { surface: 'graphql', render: renderGraph };
  const refuseKnown = guards.refusingKnown(({ method, url = '' }) => {
    // The check `refuseKnown` runs before the app. `refuseKnown` does not refuse requests for deprecated routes,
    // because only the app adds the deprecation headers to a response.
    if (url.startsWith('/api/')) {
      return url.startsWith(addresses.openApi) || mayBeDeprecated(url) ? undefined : rest;
    }
    // `refuseKnown` never refuses a GET request to /graphql, because browsers load GraphiQL from this path without an
    // API key.
    return method === 'POST' && (url === '/graphql' || url.startsWith('/graphql?')) ? graphql : undefined;
  });
  return { app, refuseKnown, logRefusals: guards.logRefusals };
}
