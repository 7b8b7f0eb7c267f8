import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { canonicalAddress, clientOf } from '../guard/client-address.ts';
import type { UnreadBodyLimits } from './unread-bodies.ts';

/** Limits on the connections of a server. Times are in milliseconds. */
export interface ConnectionLimits extends UnreadBodyLimits {
  /**
   * How long the headers of a request may take to arrive. A client that sends only half of its headers must not keep a
   * file descriptor open.
   */
  headersTimeoutMs: number;
  /** How long a whole request, with its body, may take to arrive. At 1 Mbit/s, 16 MiB arrive in about this time. */
  requestTimeoutMs: number;
  /**
   * How long an idle connection waits for its next request. The time is longer than the 60 s of common load balancers.
   */
  keepAliveTimeoutMs: number;
  /**
   * How long a connection may transfer no byte while a request is being answered. The limit exists because a stalled
   * client must not pin memory. The time is longer than `requestTimeoutMs` plus `checkIntervalMs`, so that an
   * incomplete request gets its 408 first.
   */
  silentTimeoutMs: number;
  /** How often Node checks `headersTimeoutMs` and `requestTimeoutMs`. */
  checkIntervalMs: number;
  /** The maximum number of connections of a process. Each connection takes about 20 KiB and a file descriptor. */
  maxConnections: number;
  /**
   * The maximum number of connections of one client that connects directly. An office behind one address needs fewer
   * connections.
   */
  maxConnectionsPerClient: number;
  /**
   * How long a stopping server keeps idle connections open. A client that sends a request in this time gets a response
   * that announces the end of the connection. Without this time, the client would find its connection closed.
   */
  idleGraceMs: number;
  /** How long a stopping server waits for requests in progress. */
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

/** The connections of one server. */
export interface Connections {
  /** Whether a response has begun on a connection. Nothing else may be written to such a connection. */
  isAnswering(socket: unknown): boolean;
  /**
   * Accepts no more connections, sends `Connection: close` with every response that has not begun, and waits until all
   * responses are sent. Idle connections are closed after `idleGraceMs`, and all other connections after
   * `drainTimeoutMs`.
   */
  drain(): Promise<void>;
}

/** Tracks the connections of a server, so that a stopping server sends every response before it closes a connection. */
export function trackConnections(
  server: Server,
  limits: ConnectionLimits,
  { countByAddress }: { countByAddress: boolean },
): Connections {
  /**
   * The responses in progress on each connection. A connection has several responses when the client pipelines
   * requests.
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
      // A response that began before the server stopped did not announce the end of its connection, so the connection
      // is closed here after the response.
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
        // The close() of the TCP server is called, because the close() of node:http would end connections whose
        // response is written but not sent yet.
        NetServer.prototype.close.call(server, () => {
          clearTimeout(idle);
          clearTimeout(late);
          resolve();
        });
      });
    },
  };
}
