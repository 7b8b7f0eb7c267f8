import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A network proxy between a gateway and one of its servers. The test can cut the connections of the proxy. */
export interface Proxy {
  /** The address of the server through the proxy. */
  url: string;
  /** Ends every connection and accepts no new connections. */
  cut(): void;
  /** Passes no bytes on and keeps all connections open, like a firewall that lost its connection state. */
  silence(): void;
  /** Accepts new connections, and passes on the bytes that were held back during the silence. */
  mend(): void;
  /** Connects new clients to another server. */
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
    mend() {
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
