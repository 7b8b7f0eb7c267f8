import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { connectorOverNodes } from './node-connector.ts';
import { connectionParts, type RedisServers } from './servers.ts';
import { shardsOf } from './shards.ts';

/** The longest pause between attempts to connect, in milliseconds. */
const maxReconnectDelayMs = 1000;
/** How long a command waits on a silent connection before the connection is closed, in milliseconds. */
const socketTimeoutMs = 5000;
/** How long a server may take to accept a connection before the next server is tried, in milliseconds. */
const connectTimeoutMs = 3000;
/** How long a sentinel may take to respond before the next sentinel is asked, in milliseconds. */
const sentinelTimeoutMs = 1000;
/** How often each connection is pinged, in milliseconds. */
const pingIntervalMs = 2000;
/** How often the slots of a cluster are read, in milliseconds. The client detects a failover within this time. */
const slotsIntervalMs = 1000;

/** Returns the pause before an attempt to connect, which grows with each attempt. */
const reconnectDelayMs = (attempt: number) => Math.min(attempt * 50, maxReconnectDelayMs);

/** The options of every connection to a Redis server. */
const connectionOptions = {
  connectTimeout: connectTimeoutMs,
  socketTimeout: socketTimeoutMs,
  maxRetriesPerRequest: 1,
  // A server that is no longer the primary rejects writes with READONLY. The client then opens a new connection, which
  // goes to the current primary.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

/**
 * Creates a connection that never crashes the process and always reconnects. The connection goes to the only server, to
 * the primary that the sentinels name, or to any node of a cluster. The log has an entry when the connection is lost
 * and when it is back, but not for every attempt.
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
  logConnectionChanges(redis, log);
  return redis;
}

/**
 * Creates a client for keys. The client is a connection to a single server, or a client of all nodes when several
 * cluster nodes are named. A command fails at once when its node cannot receive the command, because the callers have
 * their own fallback.
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
      // Host names are not resolved here, because TLS verifies the certificate against the host name.
      dnsLookup: (address, callback) => callback(null, address),
      clusterRetryStrategy: reconnectDelayMs,
      slotsRefreshInterval: slotsIntervalMs,
      enableOfflineQueue: false,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
    },
  );
  keepAlive(cluster, () => cluster.nodes('all'));
  logConnectionChanges(cluster, log);
  return cluster;
}

/** Returns the server of a single connection. The result is undefined when the only URL names the server. */
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
 * Pings each connection regularly. A firewall can drop a connection without notice, and only an unanswered ping reveals
 * the loss. `socketTimeout` then replaces the connection. Detection takes at most 7 s.
 */
function keepAlive(client: Redis | Cluster, connections: () => Redis[]): void {
  const pings = setInterval(() => {
    for (const connection of connections())
      if (connection.status === 'ready') connection.ping().catch(() => undefined);
  }, pingIntervalMs).unref();
  client.on('end', () => clearInterval(pings));
}

/** Logs when a client loses its connection and when it is connected again. */
function logConnectionChanges(client: Redis | Cluster, log: Logger): void {
  let known: 'up' | 'down' | undefined;
  const changed = (state: 'up' | 'down', cause?: Error) => {
    if (known === state) return;
    // Only the message is logged, because the error of a failed login contains the command with the password.
    if (state === 'down') log.warn({ cause: cause?.message }, 'Redis connection lost');
    else if (known === 'down') log.info('Redis connection is back');
    known = state;
  };
  client.on('ready', () => changed('up'));
  client.on('error', (error: Error) => changed('down', error));
}

/**
 * How long the start waits for the first connection to Redis, in milliseconds. The start then continues without Redis.
 * The value is the time that a server may take to accept a connection.
 */
const firstConnectionTimeoutMs = connectTimeoutMs;
/** How often the first connection is checked, in milliseconds. */
const firstConnectionCheckMs = 10;

/**
 * Waits until a new client is connected to each server with keys, but at most `firstConnectionTimeoutMs`, because a
 * gateway also starts without Redis. The client of a cluster is ready before it has connections to its nodes. Without
 * this function, the first command to each node would be late.
 */
export async function connected(redis: Redis | Cluster): Promise<void> {
  const { names, isConnected } = shardsOf(redis);
  const end = performance.now() + firstConnectionTimeoutMs;
  while (!names().every(isConnected) && performance.now() < end) {
    const nodes = redis instanceof Cluster ? redis.nodes('master') : [];
    for (const node of nodes) if (node.status === 'wait') node.connect().catch(() => undefined);
    await sleep(firstConnectionCheckMs, undefined, { ref: false });
  }
}
