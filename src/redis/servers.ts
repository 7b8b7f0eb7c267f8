/** Where Redis is, as the operator names it. */
export interface RedisServers {
  /**
   * One server, or some nodes of one cluster. With `sentinels` its host is not used: it tells whether the servers
   * speak TLS (`rediss:`), and the user, the password and the number of the database.
   */
  urls: readonly [string, ...string[]];
  /** Who knows which server is the primary at the moment. */
  sentinels?: RedisSentinels | undefined;
}

/** The sentinels of one primary and its replicas. */
interface RedisSentinels {
  addresses: readonly RedisAddress[];
  /** What the sentinels call the primary. */
  name: string;
  /** The password of the sentinels themselves. */
  password?: string | undefined;
}

/** An address of a server. */
export interface RedisAddress {
  host: string;
  port: number;
}

/** The port of a server that names none, and of a sentinel that names none. */
export const defaultPorts = { server: 6379, sentinel: 26_379 };

/** The host of a connection: a URL has an IPv6 address in brackets. */
export const withoutBrackets = (hostname: string) => hostname.replace(/^\[(.*)\]$/, '$1');

/** The parts of a URL, as options of a connection. */
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
