import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { RequestError } from '@hono/node-server';
import type { ErrorCode } from '../../errors/error-table.ts';
import { jsonHeaders } from '../responses/response.ts';
import type { Connections } from './connections.ts';

/** Creates the response body for a request that the server refuses before the request reaches the app. */
export type RefusalBody = (error: { code: ErrorCode; message: string }, requestId: string) => string;

/**
 * How long a connection stays open after the server has refused a request, so that the client can read the response, in
 * milliseconds.
 */
const refusalReadMs = 1_000;

/**
 * The status and the error message for each error code of Node's HTTP server. For an error code without an entry in
 * `refusals`, the response says that the request is malformed.
 */
const refusals: Record<string, { status: number; message: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'Request headers are too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'Request body has too large chunk extensions' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request was not complete in time' },
};
const malformed = { status: 400, message: 'Malformed HTTP request' };

/**
 * Answers requests that Node rejects before the requests reach the app. Node's own response would have an empty body,
 * so `answerEarly` sends a response with the usual error body.
 */
export function answerEarly(server: Server, bodyOf: RefusalBody, connections: Connections): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || connections.isAnswering(socket)) socket.destroy();
    else refuse(socket, refusals[error.code ?? ''] ?? malformed);
  });
  server.on('connect', (_request, socket) => {
    refuse(socket, { status: 405, message: 'Method CONNECT is not allowed here' });
  });
  server.on('checkExpectation', (_request, response) => {
    refuseRequest(response, { status: 417, message: 'Only the expectation 100-continue can be met' }, bodyOf);
  });

  function refuse(socket: Duplex, refusal: EarlyRefusal): void {
    const { status } = refusal;
    const { headers, body } = refusalOf(refusal, bodyOf);
    const lines = Object.entries({ ...headers, Connection: 'close' }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    socket.on('error', () => socket.destroy());
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
    // The server closes the connection one second after the refusal, so that a client that never stops sending cannot
    // keep the connection open.
    setTimeout(() => socket.destroy(), refusalReadMs).unref();
  }
}

/** The HTTP status and the error message for a request that the server refuses before the request reaches the app. */
interface EarlyRefusal {
  status: number;
  message: string;
}

/**
 * Creates the headers and the body of the response to a refused request. The response to a refused request contains a
 * new request id, which the client can quote in a support request.
 */
function refusalOf({ message }: EarlyRefusal, bodyOf: RefusalBody) {
  const requestId = randomUUID();
  const body = bodyOf({ code: 'VALIDATION_ERROR', message }, requestId);
  const headers = {
    ...jsonHeaders,
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
  };
  return { headers, body };
}

function refuseRequest(response: ServerResponse, refusal: EarlyRefusal, bodyOf: RefusalBody): void {
  const { headers, body } = refusalOf(refusal, bodyOf);
  response.writeHead(refusal.status, headers).end(body);
}

/**
 * Refuses a request with more than one Host header (RFC 9112, section 3.2). Node itself would accept a request with two
 * Host headers, and use the first Host header.
 */
export function refuseSeveralHosts(
  { rawHeaders }: IncomingMessage,
  response: ServerResponse,
  bodyOf: RefusalBody,
): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]!.length === 4 && rawHeaders[index]!.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) {
    response.shouldKeepAlive = false;
    refuseRequest(response, { status: 400, message: 'A request must have one Host header' }, bodyOf);
  }
  return hosts > 1;
}

/**
 * Creates the response to a request whose handler fails, or that Hono cannot read. For example, Hono cannot read a
 * request with an invalid Host header.
 */
export function earlyResponse(error: unknown, bodyOf: RefusalBody): Response {
  const requestId = randomUUID();
  const headers = { ...jsonHeaders, 'X-Request-Id': requestId };
  if (error instanceof RequestError) {
    const message = 'Malformed request address or Host header';
    return new Response(bodyOf({ code: 'VALIDATION_ERROR', message }, requestId), { status: 400, headers });
  }
  const body = bodyOf({ code: 'INTERNAL_ERROR', message: 'Internal server error' }, requestId);
  return new Response(body, { status: 500, headers });
}
