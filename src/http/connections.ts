import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { canonicalAddress, clientOf } from './client-address.ts';
import type { UnreadBodyLimits } from './unread-bodies.ts';

/** What a connection may cost. Times in milliseconds. */
export interface ConnectionLimits extends UnreadBodyLimits {
  /** Until the headers of a request are complete: half-sent headers must not keep a descriptor. */
  headersTimeoutMs: number;
  /** Until a request is complete, body included: 16 MiB in this time is about 1 Mbit/s. */
  requestTimeoutMs: number;
  /** How long a connection may wait for its next request: longer than the 60 s of common load balancers. */
  keepAliveTimeoutMs: number;
  /** How long a connection may carry no byte while it is answered: a reader that stopped must not keep an answer. */
  silentTimeoutMs: number;
  /** How often the first two are checked. */
  checkIntervalMs: number;
  /** All connections of a process: about 20 KiB and a descriptor each. */
  maxConnections: number;
  /** Those of one client that connects directly: more than an office behind one address needs. */
  maxConnectionsPerClient: number;
  /** How long a stopping server serves connections that are idle, for requests that are on their way. */
  idleGraceMs: number;
  /** How long a stopping server waits for requests in flight. */
  drainTimeoutMs: number;
}

export const connectionLimits: ConnectionLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 120_000,
  keepAliveTimeoutMs: 65_000,
  silentTimeoutMs: 120_000,
  checkIntervalMs: 2_000,
  maxConnections: 10_000,
  maxConnectionsPerClient: 1_000,
  unreadBodyTimeoutMs: 5_000,
  maxUnreadBodyBytes: 64 * 1024 * 1024,
  idleGraceMs: 500,
  drainTimeoutMs: 8_000,
};

/** The connections of one server. */
export interface Connections {
  /** Whether an answer has begun on a connection: nothing else may be written there. */
  isAnswering(socket: unknown): boolean;
  /**
   * Accepts no more connections, announces `Connection: close` on every answer that has not begun, and waits until
   * all are sent. Connections without a request are closed after a moment, and everything else after
   * `drainTimeoutMs`.
   */
  drain(): Promise<void>;
}

/** Follows the connections of a server, so that none is closed while its answer is not sent. */
export function trackConnections(
  server: Server,
  limits: ConnectionLimits,
  { countByAddress }: { countByAddress: boolean },
): Connections {
  /** The answers that are under way on each connection; more than one when requests are pipelined. */
  const answersOf = new Map<Socket, Set<ServerResponse>>();
  const connectionsOf = new Map<string, number>();
  let draining = false;

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
      // Its headers may have been sent before the server stopped, and promised to keep the connection.
      if (draining && answers?.size === 0) socket.destroySoon();
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
        for (const [socket, answers] of answersOf) if (answers.size === 0) socket.destroySoon();
      }, limits.idleGraceMs);
      const late = setTimeout(() => {
        for (const socket of answersOf.keys()) socket.destroy();
      }, limits.drainTimeoutMs);
      return new Promise((resolve) => {
        // Not the close() of node:http: it ends connections whose answer is written but not sent.
        NetServer.prototype.close.call(server, () => {
          clearTimeout(idle);
          clearTimeout(late);
          resolve();
        });
      });
    },
  };
}
