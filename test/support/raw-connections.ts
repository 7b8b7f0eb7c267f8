import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Hono } from 'hono';
import { onTestFinished } from 'vitest';
import { errorBody } from '../../rest/envelope.ts';
import type { ConnectionLimits } from '../../src/http/listener/connections.ts';
import { listen } from '../../src/http/listener/server.ts';

/** Creates an HTTP app that responds to a request for /slow only after the test has called `release`. */
export function newApp() {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let arrivals = 0;
  let arrived = () => {};
  const arrival = new Promise<void>((resolve) => (arrived = resolve));
  const app = new Hono()
    .get('/slow', async (c) => {
      arrivals += 1;
      arrived();
      await released;
      return c.text('finished');
    })
    .post('/body', async (c) => c.text(await c.req.text()))
    .post('/refused', (c) => c.text('refused', 401))
    .get('/large', (c) => c.body(new Uint8Array(20_000_000)))
    .get('/', (c) => c.text('ok'))
    .onError((_error, c) => c.text('failed', 500));
  return { app, release, arrival, arrivals: () => arrivals };
}

/**
 * The time limits of an HTTP server in a test, in milliseconds. These time limits of the test server are so long that
 * even a busy machine does not exceed them.
 */
const longMs = 60_000;

/** Starts an HTTP server that runs the given app on a free port. The HTTP server closes at the end of the test. */
export async function serveApp(app: Hono, limits: Partial<ConnectionLimits> = {}) {
  const listener = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    portVariable: 'PORT',
    refusalBody: errorBody,
    limits: {
      checkIntervalMs: 50,
      idleGraceMs: 0,
      headersTimeoutMs: longMs,
      unreadBodyTimeoutMs: longMs,
      drainTimeoutMs: longMs,
      ...limits,
    },
  });
  onTestFinished(() => listener.close());
  return { ...listener, port: Number(new URL(listener.url).port) };
}

/** A TCP connection on which a test writes raw bytes. */
export interface RawConnection {
  socket: Socket;
  received(): string;
  closed: Promise<unknown>;
}

/** Opens a TCP connection to a port and sends the given bytes. */
export async function open(port: number, bytes = '', { allowHalfOpen = false } = {}): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  if (bytes) socket.write(bytes, 'latin1');
  return { socket, received: () => received, closed };
}
