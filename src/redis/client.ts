import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { connectorOverNodes } from './node-connector.ts';
import { connectionParts, type RedisServers } from './servers.ts';
import { shardsOf } from './shards.ts';

/** The longest pause between attempts to connect, in milliseconds. */
const maxReconnectDelayMs = 1000;
/**
 * How long a command waits for data on a silent connection before the client closes the connection, in milliseconds.
 */
const socketTimeoutMs = 5000;
/** How long a server may take to accept a connection before the next server is tried, in milliseconds. */
const connectTimeoutMs = 3000;
/** How long a sentinel may take to respond before the next sentinel is asked, in milliseconds. */
const sentinelTimeoutMs = 1000;
/** How often each connection is pinged, in milliseconds. */
const pingIntervalMs = 2000;
/**
 * How often the client reads which node holds which slot of a cluster, in milliseconds. The client detects a failover
 * within this time.
 */
const slotsIntervalMs = 1000;

/** Returns the pause before the next attempt to connect. The pause grows with each attempt. */
const reconnectDelayMs = (attempt: number) => Math.min(attempt * 50, maxReconnectDelayMs);

/** The options of all connections to Redis servers. */
const connectionOptions = {
  connectTimeout: connectTimeoutMs,
  socketTimeout: socketTimeoutMs,
  maxRetriesPerRequest: 1,
  // A server that is no longer the primary rejects writes with the error READONLY. The client then opens a new
  // connection, which goes to the new primary.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

/**
 * Creates a connection that always reconnects and never crashes the process. It connects to the only server, to the
 * primary that the sentinels name, or to any node of a cluster. The loss and the return of the connection are logged,
 * but not each attempt to connect.
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
 * Creates a client for commands on Redis keys. It connects to a single server, or to all nodes of a cluster when
 * several cluster nodes are configured. A command to an unreachable node fails immediately, because the callers of the
 * client have their own fallback.
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
      // The client keeps host names and does not replace them with IP addresses, because TLS verifies the certificate
      // against the host name.
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

/**
 * Returns the options of a connection to a primary with sentinels, or to any node of a cluster. The result is undefined
 * for a single server, because its URL is sufficient.
 */
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
 * Pings each connection regularly. When a firewall drops a connection without notice, only an unanswered ping reveals
 * the loss, and `socketTimeout` then closes the connection. Detection takes at most 7 s.
 */
function keepAlive(client: Redis | Cluster, connections: () => Redis[]): void {
  const pings = setInterval(() => {
    for (const connection of connections())
      if (connection.status === 'ready') connection.ping().catch(() => undefined);
  }, pingIntervalMs).unref();
  client.on('end', () => clearInterval(pings));
}

/** Logs the loss and the return of the connection of a client. */
function logConnectionChanges(client: Redis | Cluster, log: Logger): void {
  let known: 'up' | 'down' | undefined;
  const changed = (state: 'up' | 'down', cause?: Error) => {
    if (known === state) return;
    // Only the message of the error is logged. The error of a failed login also contains the command with the password.
    if (state === 'down') log.warn({ cause: cause?.message }, 'Redis connection lost');
    else if (known === 'down') log.info('Redis connection is back');
    known = state;
  };
  client.on('ready', () => changed('up'));
  client.on('error', (error: Error) => changed('down', error));
}

/**
 * How long a starting gateway waits for its first connection to Redis, in milliseconds. The gateway then starts without
 * Redis. The value equals the time that a server may take to accept a connection.
 */
const firstConnectionTimeoutMs = connectTimeoutMs;
/** How often the process checks whether the first connection is ready, in milliseconds. */
const firstConnectionCheckMs = 10;

/**
 * Waits until a new client is connected to each Redis server, but at most `firstConnectionTimeoutMs`, because a gateway
 * also starts without Redis. The client of a cluster reports that it is ready before it is connected to all nodes.
 * Without this wait, the first command to each node would be slow.
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
