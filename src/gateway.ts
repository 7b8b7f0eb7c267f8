import { setMaxListeners } from 'node:events';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import { deprecatedOperations } from '../rest/deprecation.ts';
import { routeName, routes } from '../rest/routes.ts';
import { schema } from '../schema/index.ts';
import { listAuditRecords } from './audit/reads.ts';
import { createCompanyReads } from './companies/reads.ts';
import { createCompanyWrites } from './companies/writes.ts';
import { createInsideCounts } from './parking/count-inside.ts';
import { createOccupancyHistory } from './parking/occupancy-history.ts';
import { createStayExpiry } from './parking/end-stays.ts';
import { createParkingReads } from './parking/reads.ts';
import { createParkingBatches } from './parking/record-batch.ts';
import { createParkingWrites } from './parking/record-event.ts';
import { createApp } from './app.ts';
import { createKeyReads } from './auth/key-reads.ts';
import { hashSecret } from './auth/key-secret.ts';
import { createKeyWrites } from './auth/key-writes.ts';
import { createAuthenticator } from './auth/authenticator.ts';
import type { Config } from './config.ts';
import type { Database, Sql } from './database/types.ts';
import { valuesTooLarge } from './errors/error-table.ts';
import { createHistoryReads } from './database/standby-reads.ts';
import { createLargeValues } from './database/large-values.ts';
import { openDatabase } from './database/open.ts';
import { answersInTime } from './database/session.ts';
import { createRateLimiter } from './rate-limit/rate-limiter.ts';
import { createLocationFinder } from './location-access/find-location.ts';
import { createLocationSlots } from './location-access/location-slots.ts';
import { createLocationReads } from './locations/reads.ts';
import { waitForLastRequests } from './scheduling/yield.ts';
import { createLocationWrites } from './locations/writes.ts';
import { migrationsFolder } from './migrated-database.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { applyMigrations } from './database/migrations.ts';
import { applyOperatorKey } from './auth/operator-key.ts';
import { createLocalPubSub, createRedisPubSub } from './redis/pub-sub.ts';
import { keySubject } from './http/guard/charge.ts';
import { isBoundedJson } from './http/bodies/json.ts';
import type { RefuseKnown } from './http/guard/known-refusals.ts';
import { askAtMostEvery } from './scheduling/ask-at-most-every.ts';
import { checkSettings } from './redis/check-settings.ts';
import { connected, createKeyClient } from './redis/client.ts';
import { publicOperation, type GatewayEnv, unknownOperation } from './http/request-state.ts';
import { rootFieldOperations } from './graphql/operation-plan.ts';
import { createRetention } from './retention/retention.ts';
import { createLocationNotices } from './location-access/notices.ts';
import { prepareUsagePartitions } from './usage/partitions.ts';
import { createUsageRecorder } from './usage/recorder.ts';
import { createUsageReads } from './usage/reads.ts';
import { readBacklog } from './webhooks/backlog.ts';
import { createWaitingMessages } from './webhooks/waiting-messages.ts';
import { createWebhooks } from './webhooks/webhooks.ts';
import { createFeedCursors } from './whitelist/feed/cursor.ts';
import { createWhitelistFeed } from './whitelist/feed/feed.ts';
import { createWhitelistImport } from './whitelist/import/import.ts';
import { createAccessDecisions } from './gates/decisions.ts';
import { createQuotas } from './parking/quotas.ts';
import { createWhitelistReads } from './whitelist/reads.ts';
import { createWhitelistWrites } from './whitelist/writes.ts';

/**
 * How long a request waits for the rate limiter in Redis, in milliseconds. If Redis does not answer in time, the rate
 * limiter in the memory of the process decides about the request.
 */
const limiterTimeoutMs = 150;

/** How long the number of pending webhook deliveries is cached for the metrics, in milliseconds. */
const backlogIntervalMs = 15_000;

/** How long the state of the database is cached for health probes, in milliseconds. */
const readinessIntervalMs = 1_000;

/** A started gateway, with its HTTP app, its database and its metrics. */
export interface Gateway {
  app: Hono<GatewayEnv>;
  /** Refuses a request before the app handles it, for example because the API key of the request is invalid. */
  refuseKnown: RefuseKnown;
  database: Database;
  metrics: Metrics;
  /** Ends all subscriptions, because the HTTP listener cannot close while a subscription is open. */
  endStreams(): void;
  /**
   * Waits for the requests in progress (`waitForLastRequests`), writes the usage records that still wait in memory, and
   * closes all connections.
   */
  close(): Promise<void>;
}

/**
 * Starts a gateway: opens the database and Redis, applies the migrations, and creates the HTTP app.
 *
 * @throws when the database cannot be opened or migrated. The gateway also starts while Redis is unreachable
 */
export async function openGateway(config: Config, log: Logger): Promise<Gateway> {
  const { environment, keyPepper: pepper, operatorApiKey } = config;
  const database = await openDatabase({
    databaseUrl: config.databaseUrl,
    directDatabaseUrl: config.directDatabaseUrl,
    readUrl: config.databaseReadUrl,
    prepareStatements: config.databasePrepare,
    dataDir: config.dataDir,
    poolSize: config.databasePoolSize,
    gatePoolSize: config.databaseGatePoolSize,
    startWaitSeconds: config.databaseStartWaitSeconds,
    log,
  });
  await applyMigrations(database, log, migrationsFolder);
  const { prisma, sql, gates, heavy, kind } = database;
  // The table partitions for usage records are created before the gateway accepts requests. Table partitions may be
  // missing if no gateway has run for weeks.
  await prepareUsagePartitions(heavy.sql).catch((error: unknown) =>
    log.warn(
      { err: error },
      'partitions of usage records could not be created; records go to the default partition',
    ),
  );
  const readHistory = createHistoryReads(database.standby, log);
  const historySql: Sql = {
    query: (...statement) => readHistory((from) => from.sql.query(...statement), heavy),
  };
  const pubSub = config.redis ? createRedisPubSub(config.redis, log) : createLocalPubSub();
  const redis = config.redis
    ? createKeyClient(config.redis, log, { commandTimeout: limiterTimeoutMs })
    : undefined;
  if (redis) {
    await connected(redis);
    void checkSettings(redis, log);
  }
  const limiter = createRateLimiter({
    windowSeconds: config.rateLimitWindowSeconds,
    burstWindowSeconds: config.rateLimitBurstWindowSeconds,
    redis,
    log,
  });
  const metrics = createMetrics({
    limiter,
    operations: [...routes.map(routeName), ...rootFieldOperations(schema), publicOperation, unknownOperation],
    pools: database.pools,
    webhookBacklog: askAtMostEvery(backlogIntervalMs, () =>
      answersInTime(readBacklog(heavy)).catch(() => undefined),
    ),
    build: { version: packageJson.version, database: database.kind },
  });
  const usage = createUsageRecorder({ sql, log });
  const retention = createRetention({ sql: heavy.sql, log, days: config.retentionDays });
  const authenticator = await createAuthenticator({
    prisma: gates.prisma,
    pubSub,
    environment,
    pepper,
    operatorSecret: operatorApiKey,
  });
  if (operatorApiKey) {
    const operator = { secret: operatorApiKey, environment, pepper };
    if (await applyOperatorKey(prisma, operator, log)) await authenticator.keysChanged();
  }

  const statusNotices = createLocationNotices(pubSub, 'location-status');
  const whitelistNotices = createLocationNotices(pubSub, 'whitelist');
  const feedCursors = createFeedCursors(pepper);
  const whitelist = createWhitelistReads({ sql, kind, feedCursors });
  const locations = createLocationFinder(database);
  const locationSlots = createLocationSlots();
  const auditChangesOf = createLargeValues(sql, 'AuditRecord', 'changes', {
    isBounded: isBoundedJson,
    tooLarge: valuesTooLarge('changes'),
  });
  const { webhooks, close: closeWebhooks } = createWebhooks({
    ...{ prisma, sql, log, pepper },
    allowPrivate: config.webhookAllowPrivate,
    nameServers: config.webhookDnsServers,
    changesOf: auditChangesOf,
    onAttempt: metrics.countAttempt,
  });
  const stayExpiry = createStayExpiry({ ...heavy, log, locationSlots, statusNotices });
  const changeServices = { prisma, locations, locationSlots, statusNotices, whitelistNotices };

  const stopping = new AbortController();
  // The signal `stopping` can have any number of listeners, because each open subscription adds a listener.
  setMaxListeners(0, stopping.signal);
  const { app, refuseKnown, logRefusals } = createApp({
    services: {
      prisma,
      apiKeys: {
        ...createKeyReads({ prisma }),
        ...createKeyWrites({
          prisma,
          authenticator,
          environment,
          hashSecret(secret) {
            const hash = hashSecret(secret, pepper);
            authenticator.knownSecretHashes.add(hash);
            return hash;
          },
        }),
      },
      companies: {
        ...createCompanyReads({ ...database, isBoundedJson }),
        ...createCompanyWrites({ prisma, authenticator }),
      },
      locations: {
        ...locations,
        ...createLocationReads(database),
        ...createLocationWrites({ ...changeServices, heavy }),
      },
      whitelist: {
        ...whitelist,
        ...createAccessDecisions(database),
        decideAccess: createAccessDecisions(gates).decideAccess,
        ...createWhitelistWrites({ sql, whitelistNotices }),
        ...createWhitelistImport({ ...heavy, kind, locations, locationSlots, whitelistNotices }),
        quotas: createQuotas({ prisma, sql, kind, locations, locationSlots }),
        feed: createWhitelistFeed({
          ...{ sql, whitelist, feedCursors },
          changesKeptDays: config.retentionDays.whitelistChanges,
        }),
      },
      parking: {
        ...createParkingReads(database),
        ...createOccupancyHistory({ sql: historySql }),
        ...createParkingWrites(changeServices),
        ...createParkingBatches({ ...changeServices, prisma: heavy.prisma, kind }),
        ...createInsideCounts({ ...changeServices, prisma: heavy.prisma }),
      },
      webhooks,
      usage: createUsageReads({ sql: historySql, deprecated: deprecatedOperations }),
      auditRecords: (where) =>
        listAuditRecords((read) => readHistory((from) => read(from.prisma), database), where),
      auditChangesOf,
      statusNotices,
      whitelistNotices,
      waitingMessages: createWaitingMessages({ sql, log }),
      rateLimitOf: (key) => limiter.read(keySubject(key)),
      authenticator,
    },
    limiter,
    usage,
    metrics,
    log,
    trustProxy: config.trustProxy,
    stopping: stopping.signal,
    corsOrigins: config.corsOrigins,
    brownouts: config.brownouts,
    readiness: askAtMostEvery(readinessIntervalMs, async () => ({
      database: await database.state(),
      limiter: limiter.backend === 'fallback' ? ('fallback' as const) : ('ok' as const),
      notices: pubSub.connected ? ('ok' as const) : ('late' as const),
    })),
  });

  return {
    app,
    refuseKnown,
    database,
    metrics,
    endStreams: () => stopping.abort(),
    async close() {
      // At the end of each request, the gateway writes a usage record. The gateway therefore closes the usage recorder
      // only after the last requests have ended.
      const lastRequests = waitForLastRequests().then((requests) => {
        if (requests > 0) {
          log.error(
            { requests },
            'requests were still running when the gateway closed; their usage records and location notices may be lost',
          );
        }
        logRefusals();
        return usage.close();
      });
      await Promise.all([lastRequests, retention.close(), closeWebhooks(), stayExpiry.close()]);
      await Promise.all([statusNotices.flush(), whitelistNotices.flush()]);
      await Promise.all([limiter.close(), pubSub.close()]);
      await database.close();
    },
  };
}
