import { once } from 'node:events';
import { Agent, get as httpGet } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Hono } from 'hono';
import { afterAll, describe, expect, test } from 'vitest';
import { errorBody } from '../rest/envelope.ts';
import type { ConnectionLimits } from '../src/http/connections.ts';
import { listen, type Listener } from '../src/http/server.ts';

/** An app whose answers the test lets go. */
function newApp() {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let arrived = () => {};
  const arrival = new Promise<void>((resolve) => (arrived = resolve));
  const app = new Hono()
    .get('/slow', async (c) => {
      arrived();
      await released;
      return c.text('finished');
    })
    .post('/body', async (c) => c.text(await c.req.text()))
    .post('/refused', (c) => c.text('refused', 401))
    .get('/large', (c) => c.body(new Uint8Array(20_000_000)))
    .get('/', (c) => c.text('ok'))
    .onError((_error, c) => c.text('failed', 500));
  return { app, release, arrival };
}

const listeners: Listener[] = [];
afterAll(() => Promise.all(listeners.map(({ close }) => close())));

async function serve(app: Hono, limits: Partial<ConnectionLimits> = {}) {
  const listener = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    portVariable: 'PORT',
    refusalBody: (error) => errorBody(error),
    limits: { checkIntervalMs: 50, ...limits },
  });
  listeners.push(listener);
  return { ...listener, port: Number(new URL(listener.url).port) };
}

interface RawConnection {
  socket: Socket;
  received(): string;
  closed: Promise<unknown>;
}

async function open(port: number, bytes = '', { allowHalfOpen = false } = {}): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  if (bytes) socket.write(bytes, 'latin1');
  return { socket, received: () => received, closed };
}

/** What a request on a connection of its own is answered; nothing when the connection is refused. */
async function answerOfNewConnection(port: number): Promise<string> {
  const { received, closed } = await open(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await closed;
  return received();
}

const envelope = /\r\n\r\n\{"success":false,"error":\{"code":"VALIDATION_ERROR","message":"[^"]+"\}\}$/;

describe('a request that never reaches the app is answered in the envelope', () => {
  test.each([
    ['no HTTP at all', 'NONSENSE\r\n\r\n', 400],
    ['headers of 20 KB', `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['a bad Host', 'GET / HTTP/1.1\r\nHost: a b/c\r\nConnection: close\r\n\r\n', 400],
    ['a Host of another syntax', 'GET / HTTP/1.1\r\nHost: [::1\r\nConnection: close\r\n\r\n', 400],
    ['an address of another syntax', 'GET http://[/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\nConnection: close\r\n\r\n', 417],
    [
      'two lengths',
      'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
    ],
  ])('%s', async (_, bytes, status) => {
    const { port } = await serve(newApp().app);
    const { received, closed } = await open(port, bytes);
    await closed;
    expect(received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received()).toMatch(envelope);
  });
});

describe('a connection that keeps a descriptor', () => {
  test.each([
    ['without a byte', ''],
    ['with half of the headers', 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow:'],
  ])('%s is closed', async (_, bytes) => {
    const { port } = await serve(newApp().app, { headersTimeoutMs: 100 });
    const { received, closed } = await open(port, bytes);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(received()).toMatch(envelope);
  });

  test('with half of a body is closed', async () => {
    const { port } = await serve(newApp().app, { headersTimeoutMs: 100, requestTimeoutMs: 200 });
    const half = 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf';
    const { received, closed } = await open(port, half);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('because its reader stopped in the middle of an answer is closed', async () => {
    const { port } = await serve(newApp().app, { silentTimeoutMs: 200 });
    const { socket, closed } = await open(port);
    socket.pause();
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 1000)); // the reader does nothing for longer than it may
    socket.resume();
    await closed;
    expect(socket.bytesRead).toBeLessThan(20_000_000);
  });

  test.each([
    ['no HTTP', 'NONSENSE\r\n\r\n', 400],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405],
  ])('makes room when its client does not close it after a refusal: %s', async (_, bytes, status) => {
    const { port } = await serve(newApp().app, { maxConnections: 1, headersTimeoutMs: 60_000 });
    // Its own side stays open, so that the server sees no end.
    const { socket, received } = await open(port, bytes, { allowHalfOpen: true });
    await once(socket, 'end');
    expect(received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await expect.poll(() => answerOfNewConnection(port), { timeout: 20_000 }).toContain('ok');
    expect(socket.writableFinished).toBe(false);
    socket.destroy();
  });

  test.each([
    ['the process has too many, whoever they belong to', { maxConnections: 2 }],
    ['its client has too many', { maxConnectionsPerClient: 2 }],
  ])('is refused when %s', async (_, limits) => {
    const { port } = await serve(newApp().app, limits);
    const first = await open(port);
    await open(port);
    const third = await open(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await third.closed;
    expect(third.received()).toBe('');
    first.socket.destroy();
    await first.closed;
    await expect.poll(() => answerOfNewConnection(port)).toContain('ok');
  });
});

describe('a server that stops', () => {
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

  test('finishes requests of keep-alive connections, announces their end, and closes idle ones', async () => {
    const { app, release, arrival } = newApp();
    const { port, close } = await serve(app);
    const idle = await open(port, request('/'));
    await expect.poll(idle.received).toContain('ok');
    const busy = await open(port, request('/slow'));
    await arrival;

    const stopped = close();
    const late = await open(port).catch(() => undefined);
    expect(late?.received() ?? '').toBe('');
    release();
    await busy.closed;
    expect(busy.received()).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\nConnection: close\r\n[\s\S]*finished$/i,
    );
    await Promise.all([idle.closed, stopped]);
  });

  test('answers a request that was on its way on an idle connection, and closes it', async () => {
    const { port, close } = await serve(newApp().app, { idleGraceMs: 5_000 });
    const idle = await open(port, request('/'));
    await expect.poll(idle.received).toContain('ok');
    const stopped = close();
    idle.socket.write(request('/'));
    await idle.closed;
    expect(idle.received().match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(idle.received()).toMatch(/Connection: close/i);
    await stopped;
  });

  test('cuts no answer that is written and not yet read', async () => {
    const { port, close } = await serve(newApp().app, { idleGraceMs: 0 });
    const { socket, received, closed } = await open(port);
    socket.pause();
    socket.write(request('/large'));
    await expect.poll(() => socket.readableLength).toBeGreaterThan(0);
    const stopped = close();
    await new Promise((resolve) => setTimeout(resolve, 100)); // until after the idle connections are closed
    socket.resume();
    await closed;
    expect(received().length).toBeGreaterThan(20_000_000);
    await stopped;
  });

  test('gives up what does not end', async () => {
    const { app, arrival } = newApp();
    const { port, close } = await serve(app, { drainTimeoutMs: 200 });
    const busy = await open(port, request('/slow'));
    await arrival;
    await close();
    await busy.closed;
    expect(busy.received()).toBe('');
  });
});

describe('the body of a request that is answered before it was read', () => {
  const bodyBytes = 8 * 1024 * 1024;
  const head = (bytes: number) => `POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`;
  /** Sends a part of a body, or all of it, to an answer that is there already. */
  async function sendBody(connection: RawConnection, bytes: number) {
    await expect.poll(connection.received).toContain('refused');
    connection.socket.write(Buffer.alloc(bytes, 'x'));
  }
  const isTaken = ({ socket }: RawConnection) => socket.writableLength === 0;

  test('is dropped, and the connection carries the next request', async () => {
    const { port } = await serve(newApp().app);
    const connection = await open(port, head(bodyBytes));
    await sendBody(connection, bodyBytes);
    connection.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await connection.closed;
    expect(connection.received()).toMatch(/\r\n\r\nok$/);
  });

  test('is read after those that came before it, one at a time', async () => {
    const { port } = await serve(newApp().app);
    const first = await open(port, head(bodyBytes));
    await sendBody(first, bodyBytes - 1);
    await expect.poll(() => isTaken(first)).toBe(true);
    const others = await Promise.all([open(port, head(bodyBytes)), open(port, head(bodyBytes))]);
    await Promise.all(others.map((other) => sendBody(other, bodyBytes)));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(others.map(isTaken)).toEqual([false, false]);
    first.socket.write('x');
    await expect.poll(() => others.map(isTaken)).toEqual([true, true]);
    for (const { socket } of [first, ...others]) socket.destroy();
  });

  test('ends its connection when it does not come', async () => {
    const { port } = await serve(newApp().app, { unreadBodyTimeoutMs: 100 });
    const { closed, received } = await open(port, head(bodyBytes));
    await closed;
    expect(received()).toContain('refused');
  });

  test('ends its connection when it has too many bytes', async () => {
    const { port } = await serve(newApp().app, { maxUnreadBodyBytes: 1000 });
    const connection = await open(port, head(bodyBytes));
    await sendBody(connection, 2000);
    await connection.closed;
  });
});

test('a client of Node keeps its connection until the server stops', async () => {
  const { url, close } = await serve(newApp().app);
  const agent = new Agent({ keepAlive: true });
  const response = await new Promise<{ headers: Record<string, unknown> }>((resolve, reject) =>
    httpGet(url, { agent }, (answer) => resolve(answer.resume())).on('error', reject),
  );
  expect(response.headers.connection).toBe('keep-alive');
  await close();
  agent.destroy();
});
