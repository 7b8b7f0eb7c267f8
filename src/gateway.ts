import { setMaxListeners } from 'node:events';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import { createActivityStore } from './activity-store.ts';
import { createApp } from './app.ts';
import { hashSecret } from './api-key-format.ts';
import { createAuthenticator } from './auth.ts';
import type { Config } from './config.ts';
import { type Database, openDatabase } from './db.ts';
import { createRateLimiter } from './limiter.ts';
import { createLocationStore } from './location-store.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { applyMigrations } from './migrations.ts';
import { ensureOperatorKey } from './operator-key.ts';
import { createLocalPubSub, createRedisPubSub } from './pub-sub.ts';
import { connected, createRedisClient } from './redis.ts';
import type { GatewayEnv } from './request-state.ts';
import { createRetention } from './retention.ts';
import { createStatusNotices } from './status-notices.ts';
import { createUsageRecorder } from './usage.ts';
import { createUsageStore } from './usage-store.ts';
import { createWebhookSecretBox } from './webhook-secret.ts';
import { createWebhookTarget } from './webhook-target.ts';
import { createWebhookWorker } from './webhook-worker.ts';
import { createWhitelistReads } from './whitelist-reads.ts';
import { createWhitelistWrites } from './whitelist-writes.ts';

/** How long a request waits for Redis to limit it, in milliseconds, before this process does. */
const longestLimiterWait = 150;

/** A gateway that is ready to answer: both surfaces, and what stands behind them. */
export interface Gateway {
  app: Hono<GatewayEnv>;
  database: Database;
  metrics: Metrics;
  /** Ends what would not end by itself, so that the listener can close: subscriptions. */
  endStreams(): void;
  /** Writes what is still to be written and gives up every connection. */
  close(): Promise<void>;
}

/**
 * Opens database and Redis as the configuration says, migrates, and puts the app together.
 *
 * @throws when the database cannot be opened or migrated; Redis may come later
 */
export async function openGateway(config: Config, log: Logger): Promise<Gateway> {
  const { environment, keyPepper: pepper, operatorApiKey } = config;
  const database = await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    poolSize: config.databasePoolSize,
    log,
  });
  await applyMigrations(database, log);
  const { prisma, sql } = database;
  if (operatorApiKey) await ensureOperatorKey(prisma, { secret: operatorApiKey, environment, pepper });

  const pubSub = config.redisUrl ? createRedisPubSub(config.redisUrl, log) : createLocalPubSub();
  const redis = config.redisUrl
    ? createRedisClient(config.redisUrl, log, { commandTimeout: longestLimiterWait })
    : undefined;
  if (redis) await connected(redis);
  const limiter = createRateLimiter({
    windowSeconds: config.rateLimitWindowSeconds,
    burstWindowSeconds: config.rateLimitBurstWindowSeconds,
    redis,
    log,
  });
  const metrics = createMetrics({ limiter });
  const usage = createUsageRecorder({ sql, log });
  const webhookSecrets = createWebhookSecretBox(pepper);
  const webhookTarget = createWebhookTarget({ allowPrivate: config.webhookAllowPrivate });
  const webhookWorker = createWebhookWorker({
    prisma,
    sql,
    log,
    secrets: webhookSecrets,
    target: webhookTarget,
  });
  const retention = createRetention({ sql, log, days: config.retentionDays });
  const authenticator = await createAuthenticator({
    prisma,
    pubSub,
    environment,
    pepper,
    operatorSecret: operatorApiKey,
  });

  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // every open stream listens
  const app = createApp({
    services: {
      prisma,
      sql,
      whitelist: { ...createWhitelistReads(sql), ...createWhitelistWrites(sql) },
      locations: createLocationStore(sql),
      activity: createActivityStore(sql),
      usage: createUsageStore(sql),
      statusNotices: createStatusNotices(pubSub),
      authenticator,
      webhookSecrets,
      webhookTarget,
      environment,
      hashSecret: (secret) => hashSecret(secret, pepper),
    },
    limiter,
    usage,
    metrics,
    log,
    trustProxy: config.trustProxy,
    stopping: stopping.signal,
    readiness: async () => ({
      database: await database.ping().then(
        () => 'ok' as const,
        () => 'unavailable' as const,
      ),
      limiter: limiter.backend === 'fallback' ? 'fallback' : 'ok',
    }),
  });

  return {
    app,
    database,
    metrics,
    endStreams: () => stopping.abort(),
    async close() {
      await Promise.all([usage.close(), retention.close(), webhookWorker.close()]);
      await Promise.all([limiter.close(), pubSub.close()]);
      await database.close();
    },
  };
}
