import type { IncomingMessage, ServerResponse } from 'node:http';
import { slotLimits } from '../../scheduling/limits.ts';
import { createSlots } from '../../scheduling/slots.ts';
import { canonicalAddress, clientOf } from '../guard/client-address.ts';

/** The limits for a request body that is still arriving after the response has been sent. */
export interface UnreadBodyLimits {
  /**
   * The maximum time for which the gateway waits for the unread part of the request body, in milliseconds. The gateway
   * keeps the connection open until the whole body has arrived or `unreadBodyTimeoutMs` is over, so that the client can
   * read the response (RFC 9112, section 9.6).
   */
  unreadBodyTimeoutMs: number;
  /**
   * The maximum number of bytes of a request body that a client may still send after the response. If the client sends
   * more than `maxUnreadBodyBytes` bytes, the gateway closes the connection.
   */
  maxUnreadBodyBytes: number;
}

/**
 * Creates a function that discards unread request bodies. The gateway answers some requests before it has read their
 * body, for example because the body is too large. Without this function, Node would read all unread request bodies as
 * fast as the bytes arrive. Many connections that send megabytes at the same time would delay other requests. The
 * gateway therefore discards bodies in a limited number of slots: a connection occupies a slot only while the process
 * reads bytes that have already arrived. If a client stops sending, its connection occupies no slot and therefore does
 * not delay other clients.
 *
 * @returns a function that the server calls at the start of each request. When the response has been sent, the returned
 *   function discards the unread part of the request body, so that the connection can carry the next request
 */
export function createUnreadBodies({ unreadBodyTimeoutMs, maxUnreadBodyBytes }: UnreadBodyLimits) {
  const slots = createSlots(slotLimits.unreadBodies);
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (!hasBody(incoming)) return;
    // Without `read(0)`, Node would read the rest of an unread body as soon as the response ends.
    incoming.read(0);
    outgoing.once('finish', () => {
      const { socket } = incoming;
      if (incoming.complete || socket.destroyed) return;
      const client = clientOf(canonicalAddress(socket.remoteAddress ?? 'unknown'));
      const late = setTimeout(() => socket.destroySoon(), unreadBodyTimeoutMs);
      const end = () => {
        clearTimeout(late);
        socket.off('close', end);
      };
      incoming.once('end', end);
      socket.once('close', end);
      let bytes = 0;
      const dropArrived = async () => {
        const part = incoming.read() as Buffer | null;
        bytes += part?.length ?? 0;
        if (bytes > maxUnreadBodyBytes) socket.destroySoon();
      };
      incoming.removeAllListeners('data'); // an earlier reader of the body may have left a listener for `data`
      incoming.on('readable', () => void slots.run(client, dropArrived));
    });
  };
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
