import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createRequestsInProgress,
  type RequestLimits,
  requestLimits,
} from '../../src/http/guard/requests-in-progress.ts';
import { newEntry, openTestGateway, serve } from '../support/harness.ts';

/**
 * Starts a server that limits its concurrent requests, and that leaves each response open until the test ends the
 * response.
 */
async function startServer(
  limits: Partial<RequestLimits>,
  handled: (path: string) => Promise<void> = async () => undefined,
) {
  const requests = createRequestsInProgress({ ...requestLimits, ...limits });
  const running: { path: string; answer: ServerResponse }[] = [];
  const refused: string[] = [];
  const server = createServer(async (incoming, answer) => {
    const path = incoming.url!;
    try {
      const endRequest = await requests.begin(path.split('/')[1]!, answer);
      await handled(path);
      endRequest(true);
      running.push({ path, answer });
    } catch {
      refused.push(path);
      answer.end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;

  /** Sends a request on its own connection, and does not read the response. */
  function send(path: string) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
    onTestFinished(() => void socket.destroy());
    return socket;
  }
  const paths = () => running.map(({ path }) => path);
  const answerOf = (path: string) => running.find((entry) => entry.path === path)!.answer;
  return { send, paths, answerOf, refused };
}

describe('concurrent requests of one API key in a gateway process', () => {
  test('requests over the concurrency limit of their API key wait in order, without delaying other API keys', async () => {
    const { send, paths, answerOf } = await startServer({ maxRunningPerKey: 2 });
    for (const [index, path] of ['/a/1', '/a/2'].entries()) {
      send(path);
      await expect.poll(() => paths().length).toBe(index + 1);
    }
    for (const path of ['/a/3', '/a/4']) {
      send(path);
      send(`/b${path}`);
      await expect.poll(paths).toContain(`/b${path}`);
    }
    expect(paths().filter((path) => path.startsWith('/a'))).toEqual(['/a/1', '/a/2']);
    answerOf('/a/1').end();
    await expect.poll(paths).toContain('/a/3');
    expect(paths()).not.toContain('/a/4');
  });

  test('the gateway refuses a request when the queue is full, and removes the request of a disconnected client from the queue', async () => {
    const { send, paths, answerOf, refused } = await startServer({
      maxRunningPerKey: 1,
      maxWaitingPerKey: 1,
    });
    send('/a/1');
    await expect.poll(paths).toEqual(['/a/1']);
    const waiting = send('/a/2');
    const late = send('/a/3');
    await expect.poll(() => refused.length).toBe(1);
    const [first] = refused;
    (first === '/a/2' ? late : waiting).destroy();
    await expect.poll(() => refused.length).toBe(2);
    send('/a/4');
    send('/b/1');
    await expect.poll(paths).toContain('/b/1');
    answerOf('/a/1').end();
    await expect.poll(paths).toContain('/a/4');
  });

  test('the request of a disconnected client counts towards the concurrency limit until the request handler has ended', async () => {
    const handled = new Map<string, () => void>();
    const { send, paths } = await startServer(
      { maxRunningPerKey: 1 },
      (path) => new Promise((resolve) => handled.set(path, resolve)),
    );
    const first = send('/a/1');
    await expect.poll(() => [...handled.keys()]).toEqual(['/a/1']);
    first.destroy();
    send('/a/2');
    send('/b/1');
    await expect.poll(() => [...handled.keys()]).toEqual(['/a/1', '/b/1']);
    handled.get('/a/1')!();
    await expect.poll(() => [...handled.keys()]).toContain('/a/2');
    expect(paths()).toEqual(['/a/1']);
  });

  test('when a client disconnects while the gateway looks up its API key, the request counts as concurrent only until the request handler has ended', async () => {
    const requests = createRequestsInProgress({ ...requestLimits, maxRunningPerKey: 1 });
    const server = createServer(async (_incoming, answer) => {
      await once(answer, 'close');
      const endRequest = await requests.begin('key', answer);
      endRequest(true);
      server.emit('ended');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const ended = once(server, 'ended');
    const { port } = server.address() as AddressInfo;
    const sent = request({ port, host: '127.0.0.1' }).end();
    sent.on('error', () => undefined);
    await once(server, 'request');
    sent.destroy();
    await ended;
    expect(requests.begin('key', undefined)).toBeTypeOf('function');
  });

  test('requests of an API key wait while a client with this API key does not read its responses', async () => {
    const { send, paths, answerOf } = await startServer({
      maxUnreadBytesPerKey: 1_000_000,
      checkIntervalMs: 5,
    });
    const reader = send('/a/1');
    await expect.poll(paths).toEqual(['/a/1']);
    answerOf('/a/1').end(Buffer.alloc(20_000_000));
    send('/a/2');
    send('/b/1');
    await expect.poll(paths).toContain('/b/1');
    expect(paths()).not.toContain('/a/2');
    reader.destroy();
    await expect.poll(paths).toContain('/a/2');
  });

  test('new requests of an API key wait while clients of this key have too many unread response bytes', async () => {
    const requests = createRequestsInProgress({ ...requestLimits, checkIntervalMs: 5 });
    let held = requestLimits.maxUnreadBytesPerKey + 1;
    const end = await requests.begin('a', undefined, () => held);
    let begun = false;
    const waiting = Promise.resolve(requests.begin('a', undefined)).then((endWaiting) => {
      begun = true;
      endWaiting(true);
    });
    (await requests.begin('b', undefined))(true);
    expect(begun).toBe(false);
    held = 0;
    await waiting;
    end(true);
  });

  test('when clients have too many unread response bytes, the gateway closes a connection of the API key with the most unread bytes', async () => {
    const { send, paths, answerOf } = await startServer({
      maxUnreadBytes: 50_000_000,
      maxUnreadBytesPerKey: 1_000_000_000,
      checkIntervalMs: 5,
    });
    for (const path of ['/a/1', '/a/2', '/b/1']) send(path);
    await expect.poll(() => paths().length).toBe(3);
    for (const path of ['/a/1', '/a/2', '/b/1']) answerOf(path).end(Buffer.alloc(20_000_000));
    await expect.poll(() => answerOf('/a/1').destroyed || answerOf('/a/2').destroyed).toBe(true);
    await expect.poll(() => answerOf('/a/1').destroyed && answerOf('/a/2').destroyed).toBe(false);
    expect(answerOf('/b/1').destroyed).toBe(false);
  });
});

describe('the concurrency limit over HTTP', async () => {
  const gateway = await openTestGateway();

  test('a request gets status 429 with Retry-After when the queue of its API key is full', async () => {
    const { key, locationId } = await gateway.newTenant();
    const ask = () => gateway.rest('GET', '/health', { key });
    await ask(); // the gateway caches the API key for the requests below
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const running = Array.from({ length: requestLimits.maxRunningPerKey }, () =>
      gateway.app.request(`/api/locations/${locationId}/whitelist`, {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: new ReadableStream({ start: (body) => ended.then(() => body.close()) }),
        duplex: 'half',
      } as RequestInit),
    );
    const waiting = Array.from({ length: requestLimits.maxWaitingPerKey }, ask);
    const refused = await ask();
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMIT_EXCEEDED' } } });
    expect(refused.headers.get('Retry-After')).toBe('1');
    expect(refused.headers.get('X-RateLimit-Remaining')).toBe('0');
    const metrics = await (await gateway.metrics.app.request('/metrics')).text();
    expect(metrics).toContain('gateway_refusals_total{surface="rest",reason="too_much_at_once"} 1\n');
    end();
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set((await Promise.all(running)).map(({ status }) => status))).toEqual(new Set([400]));
  });
});

describe('concurrent requests whose bodies are incomplete', async () => {
  const gateway = await openTestGateway();
  const url = await serve(gateway);

  test('requests of one API key whose bodies are incomplete do not delay the requests of another API key', async () => {
    const [busy, other] = await Promise.all([gateway.newTenant(), gateway.newTenant()]);
    const readWith = (key: string) =>
      fetch(`${url}/api/locations`, { headers: { 'X-API-Key': key } }).then(({ status }) => status);
    await readWith(busy.key); // the gateway caches the API key for the requests below
    const text = JSON.stringify(newEntry());
    const bodies = Array.from({ length: requestLimits.maxRunningPerKey }, () => {
      const sent = request(`${url}/api/locations/${busy.locationId}/whitelist`, {
        method: 'POST',
        headers: {
          'X-API-Key': busy.key,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(text),
        },
      });
      sent.on('error', () => undefined);
      onTestFinished(() => void sent.destroy());
      return sent;
    });
    await Promise.all(
      bodies.map((sent) => new Promise<void>((resolve) => sent.write(text.slice(0, 10), () => resolve()))),
    );
    // The API key `busy.key` already sends as many requests as it may send at the same time, and each of these requests
    // waits for the end of its body. While the requests of the API key `busy.key` wait, a request with another API key
    // must succeed at once.
    expect(await readWith(other.key)).toBe(200);
    let waited: number | undefined;
    void readWith(busy.key).then((status) => (waited = status));
    expect([await readWith(other.key), await readWith(other.key)]).toEqual([200, 200]);
    expect(waited).toBeUndefined();
    const [first] = bodies;
    first!.end(text.slice(10));
    await expect.poll(() => waited).toBe(200);
  });

  test.each([
    ['POST', 'a small REST body', (locationId: string) => `/api/locations/${locationId}/whitelist`, 100],
    ['POST', 'a large REST body', (locationId: string) => `/api/locations/${locationId}/whitelist`, 900_000],
    ['POST', 'a small GraphQL body', () => '/graphql', 100],
    ['POST', 'a GraphQL body over 16 KiB', () => '/graphql', 100_000],
    ['POST', 'a GraphQL body over 1 MiB', () => '/graphql', 3_000_000],
    ['POST', 'a GraphQL body of unknown length', () => '/graphql', undefined],
    ['GET', 'no body', (locationId: string) => `/api/locations/${locationId}/whitelist`, 0],
  ])(
    'after clients sent a part of a %s request with %s and disconnected, another request of the API key succeeds',
    async (method, _, pathOf, length) => {
      const { key, locationId } = await gateway.newTenant();
      const ask = () => fetch(`${url}/api/health`, { headers: { 'X-API-Key': key } });
      await ask(); // the gateway caches the API key for the requests below
      const bodies = Array.from({ length: requestLimits.maxRunningPerKey + 5 }, () => {
        const sent = request(`${url}${pathOf(locationId)}`, {
          method,
          headers: {
            'X-API-Key': key,
            'Content-Type': 'application/json',
            ...(length === undefined ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': length }),
          },
          agent: false,
        });
        sent.on('error', () => undefined);
        onTestFinished(() => void sent.destroy());
        return sent;
      });
      await Promise.all(
        bodies.map((sent) => new Promise<void>((resolve) => sent.write('{"query":"', () => resolve()))),
      );
      for (const sent of bodies) sent.destroy();
      expect((await ask()).status).toBe(200);
    },
  );
});
