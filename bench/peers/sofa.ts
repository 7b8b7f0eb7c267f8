import { getRequestListener } from '@hono/node-server';
import type { GraphQLObjectType } from 'graphql';
import { Hono } from 'hono';
import { createServer } from 'node:http';
import { useSofa } from 'sofa-api';
import { schema } from '../../schema/index.ts';
import { createAuthenticator } from '../../src/auth/authenticator.ts';
import { loadConfig } from '../../src/config.ts';
import type { Services } from '../../src/context.ts';
import { openDatabase } from '../../src/database/open.ts';
import { createGuards } from '../../src/http/guard/guard.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createLocationReads } from '../../src/locations/reads.ts';
import { createLog } from '../../src/observability/log.ts';
import { createLocalPubSub } from '../../src/redis/pub-sub.ts';
import { connected, createRedisClient } from '../../src/redis/client.ts';
import type { GatewayEnv } from '../../src/http/request-state.ts';
import { createUsageRecorder } from '../../src/usage/recorder.ts';
import { createFeedCursors } from '../../src/whitelist/feed/cursor.ts';
import { createWhitelistReads } from '../../src/whitelist/reads.ts';
import { createWhitelistWrites } from '../../src/whitelist/writes.ts';

// This server uses the gateway's schema, resolvers and request guards (authentication, rate limits, log and usage
// records). The library SOFA provides only one part of this server: the translation from REST requests to GraphQL.

const config = loadConfig(process.env);
const log = createLog(config.logLevel);
const { environment, keyPepper: pepper } = config;
const database = await openDatabase({
  databaseUrl: config.databaseUrl,
  dataDir: config.dataDir,
  poolSize: config.databasePoolSize,
  log,
});
const { prisma, sql } = database;
const redis = createRedisClient(config.redis!, log);
await connected(redis);
// The GraphQL context contains only the services that requests for whitelists need.
const services = {
  prisma,
  whitelist: {
    ...createWhitelistReads({ ...database, feedCursors: createFeedCursors(pepper) }),
    ...createWhitelistWrites({ sql: database.sql, whitelistNotices: { publish: () => undefined } }),
  },
  locations: createLocationReads(database),
  authenticator: await createAuthenticator({
    prisma,
    pubSub: createLocalPubSub(),
    environment,
    pepper,
    operatorSecret: undefined,
  }),
} as Partial<Services> as Services;

/**
 * Removes fields from a GraphQL type. Without this function, the library SOFA would return fields over REST that the
 * REST API of the gateway does not return.
 */
function removeFields(type: string, ...names: string[]): void {
  const fields = (schema.getType(type) as GraphQLObjectType).getFields();
  for (const name of names) Reflect.deleteProperty(fields, name);
}
removeFields('WhitelistEntry', 'location', 'hours', 'maxEntries', 'entriesRecorded');
removeFields('WhitelistEntryConnection', 'edges', 'totalCount');
const sofa = useSofa({ basePath: '/api', schema });

const limiter = createRateLimiter({
  windowSeconds: config.rateLimitWindowSeconds,
  burstWindowSeconds: config.rateLimitBurstWindowSeconds,
  redis,
  log,
});
const app = new Hono<GatewayEnv>();
app.get('/livez', (c) => c.json({ status: 'ok' }));
app.use(
  '/api/*',
  createGuards({
    services,
    limiter,
    metrics: createMetrics({ limiter }),
    usage: createUsageRecorder({ sql, log }),
    log,
    trustProxy: config.trustProxy,
  }).ofSurface('rest', (error) => ({ status: 500, body: JSON.stringify({ error: String(error) }) })),
);
app.all('/api/*', async (c) => sofa.fetch(c.req.raw, { ...c.var.context }));
createServer(getRequestListener(app.fetch)).listen(config.port, '127.0.0.1');
