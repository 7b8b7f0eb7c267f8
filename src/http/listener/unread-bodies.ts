import type { IncomingMessage, ServerResponse } from 'node:http';
import { slotLimits } from '../../scheduling/limits.ts';
import { createSlots } from '../../scheduling/slots.ts';
import { canonicalAddress, clientOf } from '../guard/client-address.ts';

/** Limits on the rest of a body that a client still sends after its request has been answered. */
export interface UnreadBodyLimits {
  /**
   * How long the rest of the body may take to arrive, in milliseconds. During this time the client reads its response
   * (RFC 9112, section 9.6).
   */
  unreadBodyTimeoutMs: number;
  /** How many bytes of the rest of the body are read before the connection is closed. */
  maxUnreadBodyBytes: number;
}

/**
 * Creates the reader of unread bodies. The reader discards the body of a request that was answered before its body was
 * read, such as a request that is too large or has no valid key. The reader handles one body at a time. Node would read
 * all bodies as fast as they arrive, and megabytes from many connections would delay other requests.
 *
 * @returns a function to call at the start of each request, so that the connection stays usable for the next request
 */
export function createUnreadBodies({ unreadBodyTimeoutMs, maxUnreadBodyBytes }: UnreadBodyLimits) {
  const slots = createSlots(slotLimits.unreadBodies);
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (!hasBody(incoming)) return;
    // Without this call, Node would read the rest of an unread body at once when the response ends.
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
      void slots.run(client, () => {
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
  incoming.removeAllListeners('data'); // this listener remains from a reader that has given up
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) incoming.socket.destroySoon();
  });
  incoming.resume();
}
