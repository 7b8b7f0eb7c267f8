import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * A network proxy between a gateway and its PostgreSQL or Redis server. A test can interrupt all connections through
 * the proxy.
 */
export interface Proxy {
  /**
   * The URL with which the gateway connects to the server through the proxy. This is the URL of the server
   * with the address of the proxy in place of the address of the server.
   */
  url: string;
  /**
   * Closes all open connections through the proxy. Until the test calls `restore`, the proxy also closes each new
   * connection immediately.
   */
  cut(): void;
  /** Keeps all connections open but forwards no bytes, like a firewall that has lost its connection state. */
  silence(): void;
  /**
   * Ends the interruption that `cut` or `silence` started. After a call of `silence`, `restore` also forwards the bytes
   * that the proxy has held back.
   */
  restore(): void;
  /** Forwards new connections to another server. */
  turnTo(address: string): void;
  close(): void;
}

/** Starts a proxy on loopback in front of a server. */
export async function startProxy(address: string): Promise<Proxy> {
  let target = new URL(address);
  const defaultPort = target.protocol.startsWith('redis') ? 6379 : 5432;
  const sockets = new Set<Socket>();
  let isCut = false;
  let isSilent = false;
  const server = createServer((client) => {
    if (isCut) return client.destroy();
    const upstream = connect(Number(target.port || defaultPort), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
    if (isSilent) hold([client, upstream]);
  });
  const hold = (held: Iterable<Socket>) => {
    for (const socket of held) socket.pause();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  const cut = () => {
    isCut = true;
    sockets.forEach((socket) => socket.destroy());
  };
  return {
    url: url.href,
    cut,
    silence() {
      isSilent = true;
      hold(sockets);
    },
    restore() {
      isCut = false;
      isSilent = false;
      sockets.forEach((socket) => socket.resume());
    },
    turnTo(other) {
      target = new URL(other);
    },
    close() {
      cut();
      server.close();
    },
  };
}
