/** The Redis servers that the operator configured. */
export interface RedisServers {
  /**
   * The URL of one Redis server, or the URLs of some nodes of one Redis cluster. When `sentinels` is set, the gateway
   * ignores the host of the Redis URL. From this URL, the gateway then uses only the protocol (`rediss:` for TLS), the
   * user, the password and the database number.
   */
  urls: readonly [string, ...string[]];
  /** The Redis Sentinel servers, which know the address of the current primary. */
  sentinels?: RedisSentinels | undefined;
}

/** The Sentinel servers that monitor one primary and its replicas. */
interface RedisSentinels {
  addresses: readonly RedisAddress[];
  /** The name of the Redis primary in the configuration of the sentinels. */
  name: string;
  /**
   * The password for the connections to the Redis sentinels. The Redis URL contains the password for the connections to
   * the Redis primary.
   */
  password?: string | undefined;
}

/** The host and port of a Redis server or sentinel. */
export interface RedisAddress {
  host: string;
  port: number;
}

/** The default ports of a Redis server and of a sentinel, for addresses that do not contain a port. */
export const defaultPorts = { server: 6379, sentinel: 26_379 };

/**
 * Converts the host name or IP address of a URL to the form that a network connection needs. In a URL, an IPv6 address
 * has brackets, which this function removes.
 */
export const withoutBrackets = (hostname: string) => hostname.replace(/^\[(.*)\]$/, '$1');

/** Converts a URL to the options of a Redis connection. */
export function connectionParts(url: string): RedisAddress & {
  username?: string;
  password?: string;
  db?: number;
  tls?: object;
} {
  const { protocol, hostname, port, username, password, pathname, searchParams } = new URL(url);
  const db = Number(pathname.slice(1) || searchParams.get('db'));
  return {
    host: withoutBrackets(hostname),
    port: Number(port) || defaultPorts.server,
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(db > 0 && { db }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}
