import { brotliDecompressSync, createGunzip, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { listen } from '../../src/http/listener/server.ts';
import { newEntry, openTestGateway, sharedTestGateway, serve } from '../support/harness.ts';

const appOrigin = 'https://app.example';
const closed = await sharedTestGateway();
const open = await openTestGateway({ CORS_ORIGINS: `${appOrigin}, http://localhost:5173` });

describe('requests of browsers from other origins', () => {
  const preflight = (origin: string, method = 'POST') => ({
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'content-type,x-api-key',
    },
  });
  const allowedOrigin = (response: Response) => response.headers.get('Access-Control-Allow-Origin');

  test.each(['/api/locations', '/graphql', '/api/openapi.json'])(
    'by default, a browser may not send requests to %s from another origin',
    async (path) => {
      const { key } = await closed.newTenant();
      const answer = await closed.app.request(path, { headers: { Origin: appOrigin, 'X-API-Key': key } });
      expect(allowedOrigin(answer)).toBeNull();
      expect(allowedOrigin(await closed.app.request(path, preflight(appOrigin)))).toBeNull();
    },
  );

  test.each(['/api/locations', '/graphql'])(
    'a browser may send requests to %s from an origin in CORS_ORIGINS, and the preflight request costs no rate limit points',
    async (path) => {
      const { companyId } = await open.newTenant();
      const key = await open.newKey({ companyIds: [companyId], hourlyLimit: 2 });
      for (let asked = 0; asked < 5; asked += 1) {
        const answer = await open.app.request(path, preflight(appOrigin));
        expect([answer.status, allowedOrigin(answer)]).toEqual([204, appOrigin]);
        const allowed = answer.headers.get('Access-Control-Allow-Headers')!.toLowerCase().split(',');
        expect(allowed).toEqual(
          expect.arrayContaining(['x-api-key', 'x-query-cost', 'x-request-purpose', 'tracestate']),
        );
        expect(answer.headers.get('X-RateLimit-Limit')).toBeNull();
        expect(answer.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
      }
      const query = path === '/graphql' ? '?query={health{status}}' : '';
      const answer = await open.app.request(path + query, {
        headers: { Origin: appOrigin, 'X-API-Key': key, Accept: 'application/json' },
      });
      expect([answer.status, allowedOrigin(answer)]).toEqual([200, appOrigin]);
      expect(answer.headers.get('X-RateLimit-Remaining')).toBe('1');
      const exposed = answer.headers.get('Access-Control-Expose-Headers')!;
      for (const header of ['X-RateLimit-Remaining', 'RateLimit', 'Retry-After', 'X-Request-Id']) {
        expect(exposed.split(',')).toContain(header);
      }
      expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull();
      expect(answer.headers.get('Vary')).toContain('Origin');
    },
  );

  test('a web page from an origin in CORS_ORIGINS can also read the error responses of the gateway', async () => {
    const answer = await open.app.request('/api/locations', { headers: { Origin: appOrigin } });
    expect([answer.status, allowedOrigin(answer)]).toEqual([401, appOrigin]);
  });

  test('a preflight request from an origin outside CORS_ORIGINS gets no Access-Control-Allow-Origin header', async () => {
    for (const origin of [
      'https://evil.example',
      'https://app.example.evil.example',
      'http://app.example',
      'null',
    ]) {
      expect(allowedOrigin(await open.app.request('/api/locations', preflight(origin)))).toBeNull();
    }
  });

  test.each([
    ['no origin is listed', closed],
    ['other origins are listed', open],
  ])(
    'the error message for a refused preflight request contains the variable name CORS_ORIGINS when %s',
    async (_, { app }) => {
      for (const path of ['/api/locations', '/graphql']) {
        const answer = await app.request(path, preflight('https://evil.example'));
        expect([answer.status, allowedOrigin(answer)]).toEqual([403, null]);
        expect(await answer.json()).toMatchObject({
          success: false,
          error: {
            code: 'FORBIDDEN',
            requestId: answer.headers.get('X-Request-Id'),
            message: expect.stringContaining('CORS_ORIGINS'),
            details: { field: 'Origin', value: 'https://evil.example' },
          },
        });
      }
    },
  );

  test('an OPTIONS request that is not a CORS preflight request gets status 405', async () => {
    const { key } = await open.newTenant();
    const answer = await open.app.request('/api/locations', {
      method: 'OPTIONS',
      headers: { 'X-API-Key': key },
    });
    expect(answer.status).toBe(405);
  });

  test.each([
    '*',
    'https://app.example/',
    'app.example',
    'https://app.example,',
    'https://a.example/path',
    'null',
  ])('the gateway does not start when CORS_ORIGINS has the value %s', (list) => {
    expect(() => loadConfig({ CORS_ORIGINS: list })).toThrow(ConfigError);
  });
});

describe('compression of responses', () => {
  const many = 60;

  /**
   * Creates a location with so many whitelist entries that the gateway compresses the response that contains the
   * whitelist.
   */
  async function newListHolder(entries = many) {
    const tenant = await closed.newTenant();
    const query = `mutation ($id: ID!, $entries: [WhitelistEntryInput!]!) {
      importWhitelistEntries(locationId: $id, entries: $entries) { created }
    }`;
    const rows = Array.from({ length: entries }, () => newEntry());
    await closed.graph(query, { key: tenant.key, variables: { id: tenant.locationId, entries: rows } });
    const get = (path: string, headers: Record<string, string> = {}) =>
      closed.app.request(path.replace('{id}', tenant.locationId), {
        headers: { 'X-API-Key': tenant.key, Accept: 'application/json', ...headers },
      });
    return { ...tenant, get };
  }

  const list = '/api/locations/{id}/whitelist';
  const graphList = `/graphql?query=${encodeURIComponent('{ locations(first: 1) { nodes { whitelist(first: 100) { nodes { id referenceId plateNumber createdAt updatedAt } } } } }')}`;

  test.each([
    ['REST', list],
    ['GraphQL', graphList],
  ])(
    'the gateway compresses a large %s response with the encoding that the client prefers',
    async (_, path) => {
      const { get } = await newListHolder();
      const plain = await get(path);
      expect(plain.headers.get('Content-Encoding')).toBeNull();
      expect(plain.headers.get('Vary')).toContain('Accept-Encoding');
      const text = await plain.text();
      const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer());
      const gzip = await get(path, { 'Accept-Encoding': 'gzip, br;q=0.2' });
      expect(gzip.headers.get('Content-Encoding')).toBe('gzip');
      expect(gunzipSync(await bytes(gzip)).toString()).toBe(text);
      const br = await get(path, { 'Accept-Encoding': 'gzip, deflate, br, zstd' });
      expect(br.headers.get('Content-Encoding')).toBe('br');
      const compressedBytes = await bytes(br);
      expect(brotliDecompressSync(compressedBytes).toString()).toBe(text);
      expect(compressedBytes.length).toBeLessThan(text.length / 4);
      for (const refusing of ['identity', 'gzip;q=0, br;q=0', 'deflate']) {
        expect((await get(path, { 'Accept-Encoding': refusing })).headers.get('Content-Encoding')).toBeNull();
      }
    },
  );

  test('the gateway compresses the response to a GraphQL document that a client sends repeatedly', async () => {
    const { key } = await newListHolder();
    const query = '{ locations { nodes { whitelist(first: 100) { nodes { id plateNumber createdAt } } } } }';
    for (let sent = 0; sent < 3; sent += 1) {
      const answer = await closed.app.request('/graphql', {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json', 'Accept-Encoding': 'gzip' },
        body: JSON.stringify({ query }),
      });
      expect(answer.headers.get('Content-Encoding')).toBe('gzip');
      const body = JSON.parse(gunzipSync(await answer.arrayBuffer()).toString());
      expect(body.data.locations.nodes[0].whitelist.nodes).toHaveLength(many);
    }
  });

  test('the gateway does not compress a small response', async () => {
    const { get } = await newListHolder(1);
    for (const path of ['/api/health', list, '/graphql?query={health{status}}']) {
      const answer = await get(path, { 'Accept-Encoding': 'gzip, br' });
      expect(answer.headers.get('Content-Encoding')).toBeNull();
    }
  });

  /** The length of a list of whitelist entries that is too long for two chunks of the response. */
  const listLength = 1_500;

  test('the gateway sends a long list in compressed form and in several chunks', async () => {
    const { get } = await newListHolder(listLength);
    const answer = await get(list, { 'Accept-Encoding': 'gzip' });
    expect(answer.headers.get('Content-Encoding')).toBe('gzip');
    const reader = answer.body!.getReader();
    const unzip = createGunzip();
    const texts: string[] = [];
    unzip.on('data', (chunk: Buffer) => texts.push(chunk.toString()));
    // The client can read the first whitelist entries before the gateway has read the last whitelist entries from the
    // database.
    const write = (part: Uint8Array) => new Promise<void>((resolve) => unzip.write(part, () => resolve()));
    while (!texts.join('').includes('plateNumber')) await write((await reader.read()).value!);
    const early = texts.join('').length;
    for (let part = await reader.read(); !part.done; part = await reader.read()) unzip.write(part.value);
    unzip.end();
    await new Promise((resolve) => unzip.on('end', resolve));
    const whole = JSON.parse(texts.join(''));
    expect(whole.data).toHaveLength(listLength);
    expect(early).toBeLessThan(texts.join('').length / 2);
  });

  test('a client that disconnects in the middle of a compressed list causes no error', async () => {
    const { get } = await newListHolder(listLength);
    const answer = await get(list, { 'Accept-Encoding': 'br' });
    const reader = answer.body!.getReader();
    await reader.read();
    await reader.cancel();
    expect((await get('/api/health')).status).toBe(200);
  });

  test('the gateway never compresses the stream of a subscription', async () => {
    const { key, locationId } = await newListHolder(1);
    const url = await serve(closed);
    const leave = new AbortController();
    const answer = await fetch(`${url}/graphql`, {
      method: 'POST',
      signal: leave.signal,
      headers: {
        'X-API-Key': key,
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
        'Accept-Encoding': 'gzip, br',
      },
      body: JSON.stringify({
        query: `subscription { locationStatusChanged(locationId: "${locationId}") { state } }`,
      }),
    });
    expect(answer.headers.get('Content-Type')).toContain('text/event-stream');
    expect(answer.headers.get('Content-Encoding')).toBeNull();
    expect(answer.headers.get('Cache-Control')).toBe('no-store, no-transform');
    leave.abort();
  });
});

test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['127.0.0.1', '127.0.0.1'],
])('when the variable HOST is %s, the gateway prints a link that a browser can open', async (host, shown) => {
  const { url, close } = await listen(closed.app, {
    host,
    port: 0,
    portVariable: 'PORT',
    refusalBody: ({ message }) => message,
  });
  expect(new URL(url).hostname).toBe(shown);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  await close();
});
