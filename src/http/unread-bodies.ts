import type { IncomingMessage, ServerResponse } from 'node:http';
import { createFairTurns } from '../fair-turns.ts';
import { canonicalAddress, clientOf } from './client-address.ts';

/** What a client may still send of a request that is answered. */
export interface UnreadBodyLimits {
  /** How long the rest may take, in milliseconds: the client reads its answer meanwhile (RFC 9112, section 9.6). */
  unreadBodyTimeoutMs: number;
  /** How much of it is read before the connection is closed. */
  maxUnreadBodyBytes: number;
}

/**
 * Creates what reads and drops the bodies of requests that are answered before their bodies were read, such as those that
 * are too large or without a valid key. One is read at a time: Node would read all of them as fast as they come, and
 * megabytes of many connections would keep other requests waiting.
 *
 * @returns follows a request from its start on, so that its connection can carry the next one
 */
export function createUnreadBodies({ unreadBodyTimeoutMs, maxUnreadBodyBytes }: UnreadBodyLimits) {
  const turns = createFairTurns(1);
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (!hasBody(incoming)) return;
    // Node reads at once what is left of a body that nobody has begun to read.
    incoming.read(0);
    outgoing.once('finish', () => {
      const { socket } = incoming;
      if (incoming.complete || socket.destroyed) return;
      const client = clientOf(canonicalAddress(socket.remoteAddress ?? 'unknown'));
      const late = setTimeout(() => socket.destroySoon(), unreadBodyTimeoutMs);
      const ended = new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(late);
          socket.off('close', end);
          resolve();
        };
        incoming.once('end', end);
        socket.once('close', end);
      });
      void turns.run(client, () => {
        drop(incoming, maxUnreadBodyBytes);
        return ended;
      });
    });
  };
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function drop(incoming: IncomingMessage, maxBytes: number): void {
  let bytes = 0;
  incoming.removeAllListeners('data'); // of a reader that has given up
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) incoming.socket.destroySoon();
  });
  incoming.resume();
}
