import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { connectorOverNodes } from './node-connector.ts';
import { connectionParts, type RedisServers } from './servers.ts';

/** The longest pause between attempts to connect, in milliseconds. */
const maxReconnectDelayMs = 1000;
/** How long a command may wait for any sign of life before the connection is given up, in milliseconds. */
const socketTimeoutMs = 5000;
/** How long a server may take to accept a connection before the next one is tried, in milliseconds. */
const connectTimeoutMs = 3000;
/** How long a sentinel may take to answer before the next one is asked, in milliseconds. */
const sentinelTimeoutMs = 1000;
/** How often each connection is asked whether it is alive, in milliseconds. */
const pingIntervalMs = 2000;
/** How often a cluster is asked which node has which slots, in milliseconds: a failover is noticed in this time. */
const slotsIntervalMs = 1000;

/** Pauses longer with each attempt to connect. */
const reconnectDelayMs = (attempt: number) => Math.min(attempt * 50, maxReconnectDelayMs);

/** What holds for every connection to a server. */
const connectionOptions = {
  connectTimeout: connectTimeoutMs,
  socketTimeout: socketTimeoutMs,
  maxRetriesPerRequest: 1,
  // A server that was the primary until now refuses writes: the new connection goes to the one that is it.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

/**
 * A connection that never crashes the process and is made again for ever: to the one server, to the primary that
 * the sentinels name, or to any node of a cluster. The log tells when it is lost and when it is back, not every
 * attempt.
 */
export function createRedisClient(servers: RedisServers, log: Logger, options: RedisOptions = {}): Redis {
  const allOptions: RedisOptions = {
    ...connectionOptions,
    retryStrategy: reconnectDelayMs,
    enableOfflineQueue: false,
    ...options,
  };
  const place = placeOf(servers);
  const redis = place ? new Redis({ ...place, ...allOptions }) : new Redis(servers.urls[0], allOptions);
  keepAlive(redis, () => [redis]);
  tellOfConnection(redis, log);
  return redis;
}

/**
 * A client for keys: like a connection, and over all nodes of a cluster when several are named. A command that its
 * node does not take fails at once: whoever asks has an answer of its own for that time.
 */
export function createKeyClient(
  servers: RedisServers,
  log: Logger,
  options: { commandTimeout: number },
): Redis | Cluster {
  if (servers.sentinels || servers.urls.length === 1) return createRedisClient(servers, log, options);
  const nodes = servers.urls.map(connectionParts);
  const [{ username, password, tls }] = nodes as [(typeof nodes)[0]];
  const cluster = new Cluster(
    nodes.map(({ host, port }) => ({ host, port })),
    {
      redisOptions: {
        ...connectionOptions,
        ...(username && { username }),
        ...(password && { password }),
        ...(tls && { tls }),
        ...options,
      },
      // Names are left to the connection: a certificate is for a name, not for its address.
      dnsLookup: (address, callback) => callback(null, address),
      clusterRetryStrategy: reconnectDelayMs,
      slotsRefreshInterval: slotsIntervalMs,
      enableOfflineQueue: false,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
    },
  );
  keepAlive(cluster, () => cluster.nodes('all'));
  tellOfConnection(cluster, log);
  return cluster;
}

/** Which server a single connection goes to; undefined for that of the only URL. */
function placeOf({ urls, sentinels }: RedisServers): RedisOptions | undefined {
  if (!sentinels && urls.length === 1) return undefined;
  const { host: _host, port: _port, ...access } = connectionParts(urls[0]);
  if (!sentinels) return { ...access, Connector: connectorOverNodes(urls) };
  return {
    ...access,
    sentinels: sentinels.addresses.map((address) => ({ ...address })),
    name: sentinels.name,
    sentinelRetryStrategy: reconnectDelayMs,
    sentinelCommandTimeout: sentinelTimeoutMs,
    ...(sentinels.password && { sentinelPassword: sentinels.password }),
    ...(access.tls && { enableTLSForSentinelMode: true, sentinelTLS: access.tls }),
  };
}

/**
 * Asks each connection of a client now and then. A firewall can drop a connection without a word: only a question
 * without an answer shows it, after which `socketTimeout` replaces the connection. Together that takes 7 s at most.
 */
function keepAlive(client: Redis | Cluster, connections: () => Redis[]): void {
  const pings = setInterval(() => {
    for (const connection of connections())
      if (connection.status === 'ready') connection.ping().catch(() => undefined);
  }, pingIntervalMs).unref();
  client.on('end', () => clearInterval(pings));
}

/** Writes into the log when a client loses its connection and when it has it again. */
function tellOfConnection(client: Redis | Cluster, log: Logger): void {
  let known: 'up' | 'down' | undefined;
  const changed = (state: 'up' | 'down', cause?: Error) => {
    if (known === state) return;
    // Only the message: a refused log-in carries the command with the password.
    if (state === 'down') log.warn({ cause: cause?.message }, 'Redis connection lost');
    else if (known === 'down') log.info('Redis connection is back');
    known = state;
  };
  client.on('ready', () => changed('up'));
  client.on('error', (error: Error) => changed('down', error));
}

/** How long a start waits for Redis before it goes on without, in milliseconds. */
const firstConnectTimeoutMs = 1000;

/** Waits until a new client is connected, or a second at most: a gateway starts without Redis too. */
export async function connected(redis: Redis | Cluster): Promise<void> {
  if (redis.status === 'ready') return;
  await Promise.race([once(redis, 'ready'), sleep(firstConnectTimeoutMs, undefined, { ref: false })]).catch(
    () => undefined,
  );
}
