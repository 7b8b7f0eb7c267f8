import { brotliDecompressSync, createGunzip, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../src/config.ts';
import { listen } from '../src/http/server.ts';
import { newEntry, openTestGateway, serve } from './support/harness.ts';

const appOrigin = 'https://app.example';
const closed = await openTestGateway();
const open = await openTestGateway({ CORS_ORIGINS: `${appOrigin}, http://localhost:5173` });

describe('a browser of another origin', () => {
  const preflight = (origin: string, method = 'POST') => ({
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'content-type,x-api-key',
    },
  });
  const allowedOrigin = (response: Response) => response.headers.get('Access-Control-Allow-Origin');

  test.each(['/api/locations', '/graphql', '/api/openapi.json'])('is refused %s by default', async (path) => {
    const { key } = await closed.newTenant();
    const answer = await closed.app.request(path, { headers: { Origin: appOrigin, 'X-API-Key': key } });
    expect(allowedOrigin(answer)).toBeNull();
    expect(allowedOrigin(await closed.app.request(path, preflight(appOrigin)))).toBeNull();
  });

  test.each(['/api/locations', '/graphql'])(
    'may call %s when it is listed, without a charge for asking',
    async (path) => {
      const { companyId } = await open.newTenant();
      const key = await open.newKey({ companyIds: [companyId], hourlyLimit: 2 });
      for (let asked = 0; asked < 5; asked += 1) {
        const answer = await open.app.request(path, preflight(appOrigin));
        expect([answer.status, allowedOrigin(answer)]).toEqual([204, appOrigin]);
        expect(answer.headers.get('Access-Control-Allow-Headers')!.toLowerCase()).toContain('x-api-key');
        expect(answer.headers.get('X-RateLimit-Limit')).toBeNull();
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

  test('may read refusals, so that it can tell its user', async () => {
    const answer = await open.app.request('/api/locations', { headers: { Origin: appOrigin } });
    expect([answer.status, allowedOrigin(answer)]).toEqual([401, appOrigin]);
  });

  test('is refused when it is not listed', async () => {
    for (const origin of [
      'https://evil.example',
      'https://app.example.evil.example',
      'http://app.example',
      'null',
    ]) {
      expect(allowedOrigin(await open.app.request('/api/locations', preflight(origin)))).toBeNull();
    }
  });

  test('OPTIONS that is no preflight is a method that is not allowed', async () => {
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
  ])('CORS_ORIGINS %s stops the start', (list) => {
    expect(() => loadConfig({ CORS_ORIGINS: list })).toThrow(ConfigError);
  });
});

describe('an answer', () => {
  const many = 60;

  /** A key with a list that is longer than what is sent as it is. */
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
    ['the graph', graphList],
  ])('of %s that is large is compressed as the client likes best', async (_, path) => {
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
  });

  test('of a document that is sent again is compressed too', async () => {
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

  test('that is small is sent as it is', async () => {
    const { get } = await newListHolder(1);
    for (const path of ['/api/health', list, '/graphql?query={health{status}}']) {
      const answer = await get(path, { 'Accept-Encoding': 'gzip, br' });
      expect(answer.headers.get('Content-Encoding')).toBeNull();
    }
  });

  /** Entries of a list that is sent in more than two parts. */
  const listLength = 1_500;

  test('that is a long list arrives compressed, and part by part', async () => {
    const { get } = await newListHolder(listLength);
    const answer = await get(list, { 'Accept-Encoding': 'gzip' });
    expect(answer.headers.get('Content-Encoding')).toBe('gzip');
    const reader = answer.body!.getReader();
    const unzip = createGunzip();
    const texts: string[] = [];
    unzip.on('data', (chunk: Buffer) => texts.push(chunk.toString()));
    // The first page can be read before the last one was asked for.
    while (!texts.join('').includes('plateNumber')) unzip.write((await reader.read()).value);
    const early = texts.join('').length;
    for (let part = await reader.read(); !part.done; part = await reader.read()) unzip.write(part.value);
    unzip.end();
    await new Promise((resolve) => unzip.on('end', resolve));
    const whole = JSON.parse(texts.join(''));
    expect(whole.data).toHaveLength(listLength);
    expect(early).toBeLessThan(texts.join('').length / 2);
  });

  test('ends quietly when its reader leaves in the middle', async () => {
    const { get } = await newListHolder(listLength);
    const answer = await get(list, { 'Accept-Encoding': 'br' });
    const reader = answer.body!.getReader();
    await reader.read();
    await reader.cancel();
    expect((await get('/api/health')).status).toBe(200);
  });

  test('that is a subscription is never compressed', async () => {
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
    expect(answer.headers.get('Content-Encoding')).not.toMatch(/gzip|br/);
    leave.abort();
  });
});

test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['127.0.0.1', '127.0.0.1'],
])('HOST %s prints a link that opens', async (host, shown) => {
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
