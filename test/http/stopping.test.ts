import { Agent, get as httpGet } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { connectionLimits } from '../../src/http/listener/connections.ts';
import { newApp, open, serveApp } from '../support/raw-connections.ts';

describe('an HTTP server that is stopping', () => {
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

  test('a stopping HTTP server finishes running requests, sends Connection: close, and closes idle connections', async () => {
    const { app, release, arrival } = newApp();
    const { port, close } = await serveApp(app);
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

  test('a stopping HTTP server answers every request that has already arrived', async () => {
    const { app, release, arrivals } = newApp();
    const { port, close } = await serveApp(app);
    const clients = await Promise.all(Array.from({ length: 200 }, () => open(port, request('/slow'))));
    await expect.poll(arrivals).toBe(200);
    const stopped = close();
    release();
    await Promise.all(clients.map(({ closed }) => closed));
    const answers = clients.map(({ received }) => received());
    expect(answers.filter((answer) => /^HTTP\/1\.1 200 OK\r\n[^]*finished$/.test(answer))).toHaveLength(200);
    await stopped;
  });

  /**
   * The pause of the test client between two requests, in milliseconds. Most clients make shorter pauses. A stopping
   * gateway keeps an idle connection open for longer than this pause.
   */
  const pauseMs = 1_000;
  /**
   * How long a stopping server of these tests keeps idle connections open, in milliseconds. The servers of these tests
   * keep idle connections open for longer than a server in production, so that a client on a busy machine can send its
   * request in time.
   */
  const idleGraceMs = 60_000;

  test('an HTTP server that is stopping answers one more request on an idle connection, and then closes the connection', async () => {
    expect(connectionLimits.idleGraceMs).toBeGreaterThan(connectionLimits.drainTimeoutMs / 2);
    expect(connectionLimits.idleGraceMs).toBeGreaterThan(pauseMs);
    const { port, close } = await serveApp(newApp().app, { idleGraceMs });
    const idle = await open(port, request('/'));
    await expect.poll(idle.received).toContain('ok');
    const stopped = close();
    await sleep(pauseMs);
    idle.socket.write(request('/'));
    await idle.closed;
    expect(idle.received().match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(idle.received()).toMatch(/Connection: close/i);
    await stopped;
  });

  test('a stopping HTTP server answers one more request on a connection whose last response had the header Connection: keep-alive', async () => {
    const { port, close } = await serveApp(newApp().app, { idleGraceMs });
    const { socket, received, closed } = await open(port);
    socket.pause();
    socket.write(request('/large'));
    await expect.poll(() => socket.readableLength).toBeGreaterThan(0); // the server has sent the headers of the response
    const stopped = close();
    socket.resume();
    await expect.poll(() => received().length).toBeGreaterThan(20_000_000);
    expect(received()).toMatch(/Connection: keep-alive/i);
    await sleep(pauseMs);
    socket.write(request('/'));
    await closed;
    expect(received().slice(20_000_000)).toMatch(/Connection: close[^]*\r\n\r\nok$/i);
    await stopped;
  });

  test('a stopping HTTP server completes a response that the client is still reading', async () => {
    const { port, close } = await serveApp(newApp().app, { idleGraceMs: 0 });
    const { socket, received, closed } = await open(port);
    socket.pause();
    socket.write(request('/large'));
    await expect.poll(() => socket.readableLength).toBeGreaterThan(0);
    const stopped = close();
    await new Promise((resolve) => setTimeout(resolve, 100)); // the server closes its idle connections within 100 ms
    socket.resume();
    await closed;
    expect(received().length).toBeGreaterThan(20_000_000);
    await stopped;
  });

  test('a stopping HTTP server aborts a request that has not finished at the end of the drain timeout', async () => {
    const { app, arrival } = newApp();
    const { port, close } = await serveApp(app, { drainTimeoutMs: 200 });
    const busy = await open(port, request('/slow'));
    await arrival;
    await close();
    await busy.closed;
    expect(busy.received()).toBe('');
  });
});

test('the HTTP server keeps the connection of a Node.js client open until the server stops', async () => {
  const { url, close } = await serveApp(newApp().app);
  const agent = new Agent({ keepAlive: true });
  const response = await new Promise<{ headers: Record<string, unknown> }>((resolve, reject) =>
    httpGet(url, { agent }, (answer) => resolve(answer.resume())).on('error', reject),
  );
  expect(response.headers.connection).toBe('keep-alive');
  await close();
  agent.destroy();
});
