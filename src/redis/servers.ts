/** The Redis servers that the operator configured. */
export interface RedisServers {
  /**
   * The URL of one server, or the URLs of some nodes of one cluster. With `sentinels`, the URL has no relevant host. It
   * then has only the protocol (`rediss:` for TLS), the user, the password and the number of the database.
   */
  urls: readonly [string, ...string[]];
  /** The sentinels that know the current primary. */
  sentinels?: RedisSentinels | undefined;
}

/** The sentinels of one primary and its replicas. */
interface RedisSentinels {
  addresses: readonly RedisAddress[];
  /** The name of the primary in the sentinels' configuration. */
  name: string;
  /** The password of the sentinels themselves, not of the primary. */
  password?: string | undefined;
}

/** The address of a server. */
export interface RedisAddress {
  host: string;
  port: number;
}

/** The default ports of a server and of a sentinel. */
export const defaultPorts = { server: 6379, sentinel: 26_379 };

/** Returns the host of a connection without brackets. IPv6 addresses in URLs have brackets. */
export const withoutBrackets = (hostname: string) => hostname.replace(/^\[(.*)\]$/, '$1');

/** Returns the parts of a URL as options of a connection. */
export function connectionParts(url: string): RedisAddress & {
  username?: string;
  password?: string;
  db?: number;
  tls?: object;
} {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  const db = Number(pathname.slice(1));
  return {
    host: withoutBrackets(hostname),
    port: Number(port) || defaultPorts.server,
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(db > 0 && { db }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}
