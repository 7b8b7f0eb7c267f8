import { once } from 'node:events';
import type { HttpBindings } from '@hono/node-server';
import { describe, expect, test } from 'vitest';
import { connectionLimits } from '../../src/http/listener/connections.ts';
import { newApp, open, type RawConnection, serveApp } from '../support/raw-connections.ts';

/**
 * Sends a request over a new connection. Returns the response, or an empty string when the server refuses the
 * connection.
 */
async function answerOfNewConnection(port: number): Promise<string> {
  const { received, closed } = await open(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await closed;
  return received();
}

const envelope =
  /X-Request-Id: (\S+)\r\n[^]*\r\n\r\n\{"success":false,"error":\{"code":"VALIDATION_ERROR","message":"[^"]+","requestId":"\1"\}\}$/i;

describe('requests that the HTTP listener refuses before the application runs', () => {
  test.each([
    ['bytes that are not HTTP', 'NONSENSE\r\n\r\n', 400],
    ['headers of 20 KB', `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a missing Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two Host headers', 'GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['a bad Host', 'GET / HTTP/1.1\r\nHost: a b/c\r\nConnection: close\r\n\r\n', 400],
    ['a Host with invalid syntax', 'GET / HTTP/1.1\r\nHost: [::1\r\nConnection: close\r\n\r\n', 400],
    ['an address with invalid syntax', 'GET http://[/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\nConnection: close\r\n\r\n', 417],
    [
      'two content lengths',
      'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
    ],
  ])('the HTTP listener refuses %s with an error in the format of REST errors', async (_, bytes, status) => {
    const { port } = await serveApp(newApp().app);
    const { received, closed } = await open(port, bytes);
    await closed;
    expect(received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received()).toMatch(envelope);
  });
});

test('the gateway answers an HTTP/1.0 request without a Host header', async () => {
  const { port } = await serveApp(newApp().app);
  const { received, closed } = await open(port, 'GET / HTTP/1.0\r\n\r\n');
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 200 [^]*ok$/);
});

describe('connections that the gateway closes or refuses', () => {
  test.each([
    ['no byte', ''],
    ['half of the headers', 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow:'],
  ])(
    'the gateway closes a connection when the request headers do not arrive in time (the client has sent %s)',
    async (_, bytes) => {
      const { port } = await serveApp(newApp().app, { headersTimeoutMs: 100 });
      const { received, closed } = await open(port, bytes);
      await closed;
      expect(received()).toMatch(/^HTTP\/1\.1 408 /);
      expect(received()).toMatch(envelope);
    },
  );

  test('the gateway closes a connection when only half of a request body arrives in time', async () => {
    const { port } = await serveApp(newApp().app, { headersTimeoutMs: 100, requestTimeoutMs: 200 });
    const half = 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf';
    const { received, closed } = await open(port, half);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('a client that stalls in the middle of a request body gets an error response before the idle timeout closes the connection', async () => {
    const { requestTimeoutMs, checkIntervalMs, silentTimeoutMs } = connectionLimits;
    expect(silentTimeoutMs).toBeGreaterThan(requestTimeoutMs + checkIntervalMs);
    // The timeouts of this test are the timeouts of production divided by 100.
    const { port } = await serveApp(newApp().app, {
      headersTimeoutMs: 100,
      requestTimeoutMs: requestTimeoutMs / 100,
      checkIntervalMs: checkIntervalMs / 100,
      silentTimeoutMs: silentTimeoutMs / 100,
    });
    const { received, closed } = await open(
      port,
      'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf',
    );
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(received()).toMatch(envelope);
  });

  test('the gateway closes a connection whose client stops reading a response', async () => {
    let isClosed = false;
    const { app } = newApp();
    app.get('/stalled', (c) => {
      (c.env as HttpBindings).outgoing.once('close', () => (isClosed = true));
      return c.body(new Uint8Array(20_000_000));
    });
    const { port } = await serveApp(app, { silentTimeoutMs: 200 });
    const { socket, closed } = await open(port);
    socket.pause();
    socket.write('GET /stalled HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => isClosed).toBe(true);
    socket.resume();
    await closed;
    expect(socket.bytesRead).toBeLessThan(20_000_000);
  });

  test.each([
    ['bytes that are not HTTP', 'NONSENSE\r\n\r\n', 400],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405],
  ])(
    'a refused connection does not count towards the connection limit, even when the client keeps its side open: %s',
    async (_, bytes, status) => {
      const { port } = await serveApp(newApp().app, { maxConnections: 1, headersTimeoutMs: 60_000 });
      // The client keeps its own side of the connection open after the server has closed its side.
      const { socket, received } = await open(port, bytes, { allowHalfOpen: true });
      await once(socket, 'end');
      expect(received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      await expect.poll(() => answerOfNewConnection(port)).toContain('ok');
      expect(socket.writableFinished).toBe(false);
      socket.destroy();
    },
  );

  test.each([
    ['the process has too many connections', { maxConnections: 2 }],
    ['the client has too many connections', { maxConnectionsPerClient: 2 }],
  ])('the gateway refuses a new connection when %s', async (_, limits) => {
    const { port } = await serveApp(newApp().app, limits);
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

describe('request bodies that arrive after the gateway has sent its response', () => {
  const bodyBytes = 8 * 1024 * 1024;
  const head = (bytes: number) => `POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`;
  /** Waits for the response of the gateway, and only then sends the given number of bytes of the request body. */
  async function sendBody(connection: RawConnection, bytes: number) {
    await expect.poll(connection.received).toContain('refused');
    connection.socket.write(Buffer.alloc(bytes, 'x'));
  }
  const isTaken = ({ socket }: RawConnection) => socket.writableLength === 0;

  test('the gateway discards a request body that arrives after the response, and serves the next request on the connection', async () => {
    const { port } = await serveApp(newApp().app);
    const connection = await open(port, head(bodyBytes));
    await sendBody(connection, bodyBytes);
    connection.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await connection.closed;
    expect(connection.received()).toMatch(/\r\n\r\nok$/);
  });

  test('when a client stops in the middle of the body of a refused request, the gateway still discards the bodies of other refused requests without delay', async () => {
    const { port } = await serveApp(newApp().app, { unreadBodyTimeoutMs: 60_000 });
    const stalled = await Promise.all([open(port, head(bodyBytes)), open(port, head(bodyBytes))]);
    await Promise.all(stalled.map((connection) => sendBody(connection, bodyBytes - 1)));
    await expect.poll(() => stalled.map(isTaken)).toEqual([true, true]);
    const others = await Promise.all([open(port, head(bodyBytes)), open(port, head(bodyBytes))]);
    await Promise.all(others.map((other) => sendBody(other, bodyBytes)));
    for (const { socket } of others) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    for (const { received } of others) await expect.poll(received).toMatch(/ok$/);
    for (const { socket } of [...stalled, ...others]) socket.destroy();
  });

  test('the gateway closes a connection when the body of a refused request does not arrive in time', async () => {
    const { port } = await serveApp(newApp().app, { unreadBodyTimeoutMs: 100 });
    const { closed, received } = await open(port, head(bodyBytes));
    await closed;
    expect(received()).toContain('refused');
  });

  test('the gateway closes a connection when the body of a refused request is too large', async () => {
    const { port } = await serveApp(newApp().app, { maxUnreadBodyBytes: 1000 });
    const connection = await open(port, head(bodyBytes));
    await sendBody(connection, 2000);
    await connection.closed;
  });
});
