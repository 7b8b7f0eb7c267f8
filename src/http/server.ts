import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { errorAnswer } from '../rest/envelope.ts';

/** How long requests in flight may take when the process stops, in milliseconds. */
const drainTime = 8_000;

/** A server that accepts requests. */
export interface Listener {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  url: string;
  /** Accepts no more, waits for what is in flight, at most 8 s. */
  close(): Promise<void>;
}

/** What Node's parser refuses never reaches the app; it is answered here, in the same envelope. */
function refuseUnparsable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const message = tooLarge ? 'Request headers are too large' : 'Malformed HTTP request';
  const { status, body } = errorAnswer({ code: 'VALIDATION_ERROR', message }, tooLarge ? 431 : 400);
  socket.end(
    `HTTP/1.1 ${status} ${tooLarge ? 'Request Header Fields Too Large' : 'Bad Request'}\r\n` +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
}

/**
 * Serves an app over HTTP.
 *
 * @param portVariable where the port comes from
 * @throws when the address cannot be listened on; the message names the variables
 */
export async function listen(
  app: { fetch: Parameters<typeof getRequestListener>[0] },
  { host, port }: { host: string; port: number },
  portVariable: 'PORT' | 'METRICS_PORT' = 'PORT',
): Promise<Listener> {
  const server = createServer(getRequestListener(app.fetch));
  server.on('clientError', refuseUnparsable);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new Error(`Cannot listen on HOST ${host}, ${portVariable} ${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const listening = typeof address === 'object' && address ? address.port : port;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${listening}`;

  return {
    url,
    close: () =>
      new Promise((resolve) => {
        const late = setTimeout(() => server.closeAllConnections(), drainTime);
        server.close(() => {
          clearTimeout(late);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
