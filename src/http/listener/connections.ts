import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { canonicalAddress, clientOf } from '../guard/client-address.ts';
import type { UnreadBodyLimits } from './unread-bodies.ts';

/** The limits on the connections of a server. All times are in milliseconds. */
export interface ConnectionLimits extends UnreadBodyLimits {
  /**
   * How long the headers of a request may take to arrive. Without this limit, a client that sends only half of its
   * headers would keep a connection open.
   */
  headersTimeoutMs: number;
  /**
   * How long a whole request may take to arrive, including its body. A body of 16 MiB takes about this long at 1
   * Mbit/s.
   */
  requestTimeoutMs: number;
  /**
   * How long an idle connection waits for its next request. Common load balancers close idle connections after 60 s,
   * and the server must wait longer.
   */
  keepAliveTimeoutMs: number;
  /**
   * How long a connection may transfer no data while a request is being answered. A stalled client must not pin memory.
   * The time is longer than `requestTimeoutMs` plus `checkIntervalMs`, so that an incomplete request first gets its
   * response with status 408.
   */
  silentTimeoutMs: number;
  /** How often Node looks for requests that exceed `headersTimeoutMs` or `requestTimeoutMs`. */
  checkIntervalMs: number;
  /** The maximum number of connections of a process. Each connection takes about 20 KiB and a file descriptor. */
  maxConnections: number;
  /**
   * The maximum number of connections of one client that connects without a proxy. Even an office behind one address
   * needs fewer connections.
   */
  maxConnectionsPerClient: number;
  /**
   * How long a stopping server keeps idle connections open. If a client sends a request in this time, it gets a
   * response which announces that the connection will close. Otherwise the client would find its connection closed
   * without notice.
   */
  idleGraceMs: number;
  /** How long a stopping server waits until the requests in progress are answered. */
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

/** The connections of a server. */
export interface Connections {
  /**
   * Whether the server has begun to write a response on a connection. Nothing else may then be written to the
   * connection.
   */
  isAnswering(socket: unknown): boolean;
  /**
   * Accepts no more connections, and waits until all responses are sent. Responses that have not begun get the header
   * `Connection: close`. Idle connections are closed after `idleGraceMs`, and all other connections after
   * `drainTimeoutMs`.
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
   * The responses in progress on each connection. There are several when a client sends its next request before it has
   * received the response (pipelining).
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
      // This response began before the server stopped, so it did not announce the end of its connection. The connection
      // is closed after the response.
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
        // This calls `close` of the TCP server. `close` of node:http would end connections whose response is written
        // but not sent yet.
        NetServer.prototype.close.call(server, () => {
          clearTimeout(idle);
          clearTimeout(late);
          resolve();
        });
      });
    },
  };
}
