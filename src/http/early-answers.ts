import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { RequestError } from '@hono/node-server';
import type { ErrorCode } from '../errors/error-table.ts';
import type { Connections } from './connections.ts';

/** Words the answer to a request that never reaches the app. */
export type RefusalBody = (error: { code: ErrorCode; message: string }) => string;

/** How long a refused client may take to read its answer before the connection is closed, in milliseconds. */
const refusalReadMs = 1_000;

/** What Node's parser refuses, by the code of its error. All other errors are malformed requests. */
const refusals: Record<string, { status: number; message: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'Request headers are too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'Request body has too large chunk extensions' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request was not complete in time' },
};
const malformed = { status: 400, message: 'Malformed HTTP request' };

const jsonType = 'application/json; charset=utf-8';

/** Answers in the envelope what Node refuses: such a request never reaches the app, and Node's answer is empty. */
export function answerEarly(server: Server, bodyOf: RefusalBody, connections: Connections): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || connections.isAnswering(socket)) socket.destroy();
    else refuse(socket, refusals[error.code ?? ''] ?? malformed);
  });
  server.on('connect', (_request, socket) => {
    refuse(socket, { status: 405, message: 'Method CONNECT is not allowed here' });
  });
  server.on('checkExpectation', (_request, response) => {
    const body = bodyOf({
      code: 'VALIDATION_ERROR',
      message: 'Only the expectation 100-continue can be met',
    });
    response
      .writeHead(417, { 'Content-Type': jsonType, 'Content-Length': Buffer.byteLength(body) })
      .end(body);
  });

  function refuse(socket: Duplex, { status, message }: { status: number; message: string }): void {
    const body = bodyOf({ code: 'VALIDATION_ERROR', message });
    socket.on('error', () => socket.destroy());
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
        `Content-Type: ${jsonType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Connection: close\r\n\r\n${body}`,
    );
    // A client that sends on without an end would keep its connection.
    setTimeout(() => socket.destroy(), refusalReadMs).unref();
  }
}

/** The response to a request that Hono cannot read, such as one with a bad Host, or whose answer broke. */
export function earlyResponse(error: unknown, bodyOf: RefusalBody): Response {
  const headers = { 'Content-Type': jsonType };
  if (error instanceof RequestError) {
    const message = 'Malformed request address or Host header';
    return new Response(bodyOf({ code: 'VALIDATION_ERROR', message }), { status: 400, headers });
  }
  const body = bodyOf({ code: 'INTERNAL_ERROR', message: 'Internal server error' });
  return new Response(body, { status: 500, headers });
}
