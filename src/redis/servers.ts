/** The Redis servers that the operator configured. */
export interface RedisServers {
  /**
   * One server, or some nodes of one cluster. With `sentinels`, the host is not used; the URL has only the protocol
   * (`rediss:` for TLS), the user, the password and the number of the database.
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
  /** The password of the sentinels themselves. */
  password?: string | undefined;
}

/** The address of a server. */
export interface RedisAddress {
  host: string;
  port: number;
}

/** The ports of a server and of a sentinel without an explicit port. */
export const defaultPorts = { server: 6379, sentinel: 26_379 };

/** The host of a connection. IPv6 addresses in URLs have brackets. */
export const withoutBrackets = (hostname: string) => hostname.replace(/^\[(.*)\]$/, '$1');

/** The parts of a URL as options of a connection. */
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
