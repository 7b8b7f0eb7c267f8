import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between a gateway and a server of its, and can be cut. */
export interface Proxy {
  /** The address of the server, by way of the proxy. */
  url: string;
  /** Ends every connection and accepts no more. */
  cut(): void;
  /** Passes nothing on and closes nothing, as a firewall does that forgot the connections. */
  silence(): void;
  /** Takes new connections, and passes on what was held back in silence. */
  mend(): void;
  /** Leads new connections to another server. */
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
