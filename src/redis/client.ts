import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { connectorOverNodes } from './node-connector.ts';
import { connectionParts, type RedisServers } from './servers.ts';
import { shardsOf } from './shards.ts';
import { limitCommands } from './time-limit.ts';

/** The longest pause between two attempts to connect to Redis, in milliseconds. */
const maxReconnectDelayMs = 1000;
/** How long a Redis connection may wait for data before the Redis client closes it, in milliseconds. */
const socketTimeoutMs = 5000;
/**
 * How long a Redis server may take to accept a connection, in milliseconds. After this time, the Redis client tries the
 * next server.
 */
const connectTimeoutMs = 3000;
/** How long a Redis sentinel may take to respond before the Redis client uses the next sentinel, in milliseconds. */
const sentinelTimeoutMs = 1000;
/** The interval at which the Redis client sends a ping on each connection, in milliseconds. */
const pingIntervalMs = 2000;
/**
 * The interval at which the Redis client updates its map of cluster slots, in milliseconds. The map contains the Redis
 * node of each cluster slot. After a failover, the client finds the new primary node within about `slotsIntervalMs`.
 * When one Redis node does not respond, an update of the client's map of cluster slots can take 1 s longer.
 */
const slotsIntervalMs = 1000;

/**
 * Returns the pause before the next attempt to connect to Redis, in milliseconds. After each failed attempt to connect,
 * this pause becomes longer.
 */
const reconnectDelayMs = (attempt: number) => Math.min(attempt * 50, maxReconnectDelayMs);

/** The options of all connections to Redis servers. */
const connectionOptions = {
  connectTimeout: connectTimeoutMs,
  socketTimeout: socketTimeoutMs,
  maxRetriesPerRequest: 1,
  // A server that is no longer the primary rejects writes with the error READONLY. After the error READONLY, the client
  // opens a new connection, which goes to the new primary.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

/**
 * Creates a Redis connection that reconnects after each loss. An error of the Redis connection does not end the gateway
 * process. If sentinels are configured, the client asks a sentinel for the address of the primary, and connects to the
 * primary. In a Redis Cluster, the Redis client first connects to any one of the nodes. The Redis client logs the loss
 * and the return of the connection, but not each attempt to connect.
 *
 * @param options.commandTimeout how long each command waits for an answer, in milliseconds (`limitCommands`)
 */
export function createRedisClient(
  servers: RedisServers,
  log: Logger,
  { commandTimeout, ...options }: RedisOptions = {},
): Redis {
  const allOptions: RedisOptions = {
    ...connectionOptions,
    retryStrategy: reconnectDelayMs,
    enableOfflineQueue: false,
    ...options,
  };
  const place = placeOf(servers);
  const redis = place ? new Redis({ ...place, ...allOptions }) : new Redis(servers.urls[0], allOptions);
  if (commandTimeout !== undefined) limitCommands(redis, commandTimeout);
  keepAlive(redis, () => [redis]);
  logConnectionChanges(redis, log);
  return redis;
}

/**
 * Creates a client for commands on Redis keys. The client connects to a single server, or to all nodes of a cluster
 * when several cluster nodes are configured. If a Redis node is unreachable, a command to this node fails immediately,
 * so that the caller can continue without Redis.
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
      },
      // The Redis client keeps host names instead of IP addresses, because TLS verifies the certificate against the
      // host name.
      dnsLookup: (address, callback) => callback(null, address),
      clusterRetryStrategy: reconnectDelayMs,
      slotsRefreshInterval: slotsIntervalMs,
      enableOfflineQueue: false,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
    },
  );
  limitCommands(cluster, options.commandTimeout);
  keepAlive(cluster, () => cluster.nodes('all'));
  logConnectionChanges(cluster, log);
  return cluster;
}

/**
 * Returns the options of a Redis connection: to the primary that sentinels monitor, or to any node of a Redis Cluster.
 * Returns `undefined` for a single server, because a connection to a single server needs only its URL.
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
 * Sends a ping on each Redis connection at regular intervals. If a firewall drops a connection without closing it, the
 * client can detect this only by a ping that gets no answer. When a ping gets no answer, the Redis client closes the
 * connection after `socketTimeoutMs`. The Redis client therefore detects a lost connection within 7 s.
 */
function keepAlive(client: Redis | Cluster, connections: () => Redis[]): void {
  const pings = setInterval(() => {
    for (const connection of connections())
      if (connection.status === 'ready') connection.ping().catch(() => undefined);
  }, pingIntervalMs).unref();
  client.on('end', () => clearInterval(pings));
}

/** Writes a log line when a Redis client loses its connection, and when the Redis client is connected again. */
function logConnectionChanges(client: Redis | Cluster, log: Logger): void {
  let known: 'up' | 'down' | undefined;
  const changed = (state: 'up' | 'down', cause?: Error) => {
    if (known === state) return;
    // When a login fails, the error object contains the Redis command with the password. The gateway therefore logs
    // only the message of the error, and not the whole error object.
    if (state === 'down') log.warn({ cause: cause?.message }, 'Redis connection lost');
    else if (known === 'down') log.info('Redis connection is back');
    known = state;
  };
  client.on('ready', () => changed('up'));
  client.on('error', (error: Error & { command?: { name: string } }) => {
    // If Redis refuses the database number in the URL, the client stays connected and uses database 0. Because the
    // client stays connected, only this error shows that the database number in the URL is wrong.
    if (error.command?.name === 'select') {
      log.error(
        { cause: error.message },
        'Redis refuses the database number of REDIS_URL; database 0 is used',
      );
    } else changed('down', error);
  });
}

/**
 * How long the gateway waits for Redis when the gateway starts, in milliseconds. If Redis does not respond within
 * `firstConnectionTimeoutMs`, the gateway starts without Redis.
 */
const firstConnectionTimeoutMs = connectTimeoutMs;
/** The interval at which the process checks whether its first connection to Redis is ready, in milliseconds. */
const firstConnectionCheckMs = 10;

/**
 * Waits until a new Redis client has a connection to every Redis server. The function `connected` waits at most
 * `firstConnectionTimeoutMs`. `connected` does not use the event `ready`, because a cluster client emits `ready` before
 * the client is connected to all nodes. If the client is not yet connected to a node, the first command to this node is
 * slow.
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
