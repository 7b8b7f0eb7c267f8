import type { IncomingMessage, ServerResponse } from 'node:http';
import { slotLimits } from '../../scheduling/limits.ts';
import { createSlots } from '../../scheduling/slots.ts';
import { canonicalAddress, clientOf } from '../guard/client-address.ts';

/** The limits for the remaining part of a request body that a client still sends after the response. */
export interface UnreadBodyLimits {
  /**
   * How long the remaining part of the body may take to arrive, in milliseconds. The client reads its response in this
   * time (RFC 9112, section 9.6).
   */
  unreadBodyTimeoutMs: number;
  /** How many bytes of the remaining part are read before the connection is closed. */
  maxUnreadBodyBytes: number;
}

/**
 * Creates the reader of unread request bodies. Some requests are answered before their body is read, for example
 * because the body is too large or the API key is invalid. The reader discards such bodies, one body at a time. Node
 * would read all of them as fast as they arrive, and megabytes from many connections would delay other requests.
 *
 * @returns a function to call at the start of each request, so that the connection can be used for the next request
 */
export function createUnreadBodies({ unreadBodyTimeoutMs, maxUnreadBodyBytes }: UnreadBodyLimits) {
  const slots = createSlots(slotLimits.unreadBodies);
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (!hasBody(incoming)) return;
    // Without this call, Node would read the remaining part of an unread body as soon as the response ends.
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
  incoming.removeAllListeners('data'); // the listener is left over from a reader that stopped early
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) incoming.socket.destroySoon();
  });
  incoming.resume();
}
