import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { canonicalAddress, clientOf } from '../guard/client-address.ts';
import type { UnreadBodyLimits } from './unread-bodies.ts';

/** The limits on the connections of an HTTP server, with all times in milliseconds. */
export interface ConnectionLimits extends UnreadBodyLimits {
  /**
   * The maximum time that a client may take to send the headers of a request. Because of `headersTimeoutMs`, a client
   * cannot keep a connection open by sending only a part of its headers.
   */
  headersTimeoutMs: number;
  /**
   * The maximum time that a client may take to send a whole request, including its body. If a client sends 1 Mbit/s, a
   * body of 16 MiB takes about `requestTimeoutMs` to arrive.
   */
  requestTimeoutMs: number;
  /**
   * How long the server keeps a connection open after a response, to wait for the next request of the client. A load
   * balancer must close an idle connection before the server closes it. Common load balancers close an idle connection
   * after 60 s, so the server waits longer than 60 s.
   */
  keepAliveTimeoutMs: number;
  /**
   * The maximum time for which a connection may be silent (transfer no data) while the server answers a request. After
   * `silentTimeoutMs`, the server closes the connection. Without `silentTimeoutMs`, a response would stay in memory
   * when its client no longer reads. `silentTimeoutMs` must be longer than `requestTimeoutMs` plus `checkIntervalMs`.
   * With a shorter `silentTimeoutMs`, the server would close the connection of an incomplete request before the client
   * got status 408.
   */
  silentTimeoutMs: number;
  /** The interval at which Node checks whether requests have exceeded `headersTimeoutMs` or `requestTimeoutMs`. */
  checkIntervalMs: number;
  /**
   * The maximum number of connections of a process. Each connection occupies about 20 KiB of memory and a file
   * descriptor.
   */
  maxConnections: number;
  /**
   * The maximum number of open connections from one client address. The limit `maxConnectionsPerClient` applies only if
   * clients connect to the gateway without a proxy. An office whose computers share one address needs fewer connections
   * than `maxConnectionsPerClient`.
   */
  maxConnectionsPerClient: number;
  /**
   * How long a stopping server keeps idle connections open. If a client sends a request on an idle connection of a
   * stopping server, the response announces that the connection will close.
   */
  idleGraceMs: number;
  /** How long a server that is stopping waits for the responses to the requests in progress. */
  drainTimeoutMs: number;
}

export const connectionLimits: ConnectionLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 120_000,
  keepAliveTimeoutMs: 65_000,
  silentTimeoutMs: 125_000,
  checkIntervalMs: 2_000,
  maxConnections: 10_000,
  maxConnectionsPerClient: 1_000,
  unreadBodyTimeoutMs: 5_000,
  maxUnreadBodyBytes: 64 * 1024 * 1024,
  idleGraceMs: 5_000,
  drainTimeoutMs: 8_000,
};

/** The open connections of an HTTP server. */
export interface Connections {
  /**
   * Whether the server has begun to write a response to a connection and has not finished the response yet. While the
   * server writes a response to a connection, no other code may write to the connection.
   */
  isAnswering(socket: unknown): boolean;
  /**
   * Stops accepting connections, and waits until all responses are sent. Each response that begins while the server
   * stops gets the header `Connection: close`. After `idleGraceMs`, the server closes the idle connections. After
   * `drainTimeoutMs`, the server closes all connections that are still open.
   */
  drain(): Promise<void>;
}

/**
 * Keeps track of the connections of a server, so that a stopping server can send every response before it closes the
 * connection.
 */
export function trackConnections(
  server: Server,
  limits: ConnectionLimits,
  { countByAddress }: { countByAddress: boolean },
): Connections {
  /**
   * For each connection, the responses that the server has not finished yet. With HTTP pipelining, a client sends
   * several requests without waiting for the responses, so a connection can have several unfinished responses.
   */
  const answersOf = new Map<Socket, Set<ServerResponse>>();
  const connectionsOf = new Map<string, number>();
  let draining = false;
  let closesIdle = false;

  function countConnection(socket: Socket): void {
    const client = clientOf(canonicalAddress(socket.remoteAddress ?? 'unknown'));
    const open = (connectionsOf.get(client) ?? 0) + 1;
    connectionsOf.set(client, open);
    socket.once('close', () => {
      const left = connectionsOf.get(client)! - 1;
      if (left > 0) connectionsOf.set(client, left);
      else connectionsOf.delete(client);
    });
    if (open > limits.maxConnectionsPerClient) socket.destroy();
  }

  server.on('connection', (socket) => {
    answersOf.set(socket, new Set());
    socket.once('close', () => answersOf.delete(socket));
    if (countByAddress) countConnection(socket);
  });
  server.prependListener('request', ({ socket }, response) => {
    const answers = answersOf.get(socket);
    answers?.add(response);
    if (draining) response.shouldKeepAlive = false;
    response.once('close', () => {
      answers?.delete(response);
      // A server that is stopping closes a connection after it has sent the last response on this connection. If the
      // server sent the headers of the last response before it began to stop, this response has no header `Connection:
      // close`.
      if (closesIdle && answers?.size === 0) socket.destroySoon();
    });
  });

  return {
    isAnswering: (socket) =>
      [...(answersOf.get(socket as Socket) ?? [])].some(({ headersSent }) => headersSent),
    drain() {
      draining = true;
      for (const answer of [...answersOf.values()].flatMap((answers) => [...answers])) {
        if (!answer.headersSent) answer.shouldKeepAlive = false;
      }
      const idle = setTimeout(() => {
        closesIdle = true;
        for (const [socket, answers] of answersOf) if (answers.size === 0) socket.destroySoon();
      }, limits.idleGraceMs);
      const late = setTimeout(() => {
        for (const socket of answersOf.keys()) socket.destroy();
      }, limits.drainTimeoutMs);
      return new Promise((resolve) => {
        // The gateway stops the server with the method `close` of the module node:net. The method `close` of node:http
        // would also end connections on which a written response has not been sent yet.
        NetServer.prototype.close.call(server, () => {
          clearTimeout(idle);
          clearTimeout(late);
          resolve();
        });
      });
    },
  };
}
