import { describe, expect, test } from 'vitest';
import { routes } from '../../rest/routes.ts';
import { newId } from '../../src/ids.ts';
import { openCommandLine } from '../support/command-line.ts';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';
import { startHttpServer } from '../support/http-server.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;
const url = await serve(gateway);
const { json, pms } = openCommandLine(url);

/** Creates a location whose whitelist has the given number of entries. */
async function newWhitelist(count: number) {
  const tenant = await gateway.newTenant();
  await prisma.whitelistEntry.createMany({
    data: Array.from({ length: count }, (_, index) => ({
      ...newEntry({ referenceId: `unit/${index % 4}` }),
      id: newId(),
      locationId: tenant.locationId,
    })),
  });
  return tenant;
}

/** Sends REST GET requests with an API key, and waits until `pms usage` lists these requests. */
async function use(key: string, ...paths: string[]): Promise<void> {
  for (const path of paths) await gateway.rest('GET', path, { key });
  /**
   * Returns the names of the GET operations that the API key has used. `pms usage` lists an operation once for each
   * hour in which the API key used the operation.
   */
  const operations = async () => {
    const rows: { operation: string }[] = await json(key, 'usage');
    return new Set(rows.map(({ operation }) => operation).filter((operation) => operation.startsWith('GET')));
  };
  const used = new Set(paths.map((path) => path.replace(/[0-9a-f-]{36}|unit%2F\d/g, ''))).size;
  await expect.poll(async () => (await operations()).size).toBe(used);
}

/** Starts a proxy that changes the responses of the gateway, and returns the URL of the proxy. */
async function distorted(
  change: (path: string, answer: string) => string | Promise<string>,
): Promise<string> {
  return startHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { accept, 'x-api-key': key, 'content-type': type } = request.headers;
    const answer = await fetch(`${url}${request.url}`, {
      method: request.method!,
      headers: { 'X-API-Key': String(key), ...(accept && { accept }), ...(type && { 'content-type': type }) },
      ...(body.length > 0 && { body }),
    });
    const text = await answer.text();
    const isAnswer = request.method === 'GET' && accept !== 'application/graphql-request+json';
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('Content-Type')! });
    response.end(isAnswer ? await change(request.url!, text) : text);
  });
}

/** A response that a test proxy sends in place of the response of the gateway. */
interface Replacement {
  status: number;
  body: string;
}

/**
 * Starts a proxy that replaces some responses of the gateway. Each response that the proxy creates has the header
 * `Retry-After: 0`. This header tells pms to repeat the request without a pause.
 *
 * @param replace a function that decides about each response: it returns a replacement response, `'reset'` to close the
 *   connection, or undefined to forward the response. The parameter `kind` is `rest` for a REST request, and `graph`
 *   for a GraphQL request. The parameter `kind` is `twin` for a request with which pms asks the gateway to translate a
 *   REST request to GraphQL
 * @returns the URL of the proxy
 */
async function failing(
  replace: (kind: 'rest' | 'twin' | 'graph', path: string) => Replacement | 'reset' | undefined,
): Promise<string> {
  return startHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { accept = '*/*', 'x-api-key': key, 'content-type': type = 'application/json' } = request.headers;
    const isTwin = accept === 'application/graphql-request+json';
    const isTwinRead = body.includes('"operationName":"ListWhitelist"');
    // With a request to /api/health, pms checks whether the gateway can translate REST requests to GraphQL requests.
    const isHealth = request.url === '/api/health';
    const kind = isHealth
      ? undefined
      : isTwin
        ? 'twin'
        : request.method === 'GET'
          ? 'rest'
          : isTwinRead
            ? 'graph'
            : undefined;
    const replacement = kind && replace(kind, request.url!);
    if (replacement === 'reset') return void request.socket.destroy();
    if (replacement) {
      response.writeHead(replacement.status, { 'Retry-After': '0', 'Content-Type': 'application/json' });
      return void response.end(replacement.body);
    }
    const answer = await fetch(`${url}${request.url}`, {
      method: request.method!,
      headers: { 'X-API-Key': String(key), accept, 'content-type': type },
      ...(body.length > 0 && { body }),
    });
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('Content-Type')! });
    response.end(await answer.text());
  });
}

describe('the command pms parity', () => {
  test('pms parity compares the results of REST and GraphQL for every read request that an API key has sent, and finds no difference', async () => {
    const { key, locationId } = await newWhitelist(230);
    const reads = routes.filter(({ method }) => method === 'GET');
    await use(
      key,
      ...reads.map(({ path }) =>
        path.replace('{locationId}', locationId).replace('{residentId}', encodeURIComponent('unit/1')),
      ),
    );
    const rows = await json(key, 'parity');
    expect(new Set(rows.map(({ operation }: { operation: string }) => operation))).toEqual(
      new Set(reads.map(({ path }) => `GET ${path}`)),
    );
    for (const row of rows) expect(row, row.path).toMatchObject({ differences: [], obstacle: null });
    const whitelist = rows.find(({ path }: { path: string }) => path.endsWith('/whitelist'));
    expect(whitelist).toMatchObject({
      items: 230,
      requests: 1,
      path: `/api/locations/${locationId}/whitelist`,
    });
    expect(rows.filter(({ path }: { path: string }) => path.endsWith('/vehicles'))).toHaveLength(3);

    // The gateway records the requests of `pms parity` under names such as `parity of GET /health`. If the recorded
    // name of a request begins with `parity of`, the request came from `pms parity`, and not from a client that uses a
    // deprecated endpoint.
    await expect
      .poll(async () => (await json(key, 'usage')).map(({ operation }: { operation: string }) => operation))
      .toContain('parity of GET /health');
    for (const row of await json(key, 'parity')) expect(row.requests, row.path).toBe(1);

    const cut = await json(key, 'parity', '--pages', '1');
    expect(cut.find(({ path }: { path: string }) => path.endsWith('/whitelist'))).toMatchObject({
      items: 100,
    });
    expect((await pms(key, 'parity')).out).toContain('same');
  });

  test.each([
    ['the list of locations', { permissions: ['READ_WHITELIST', 'READ_LOCATIONS'] }],
    ['the list of statuses', { permissions: ['READ_WHITELIST', 'READ_STATUS'] }],
    ['the scope of the key', { permissions: ['READ_WHITELIST'] }],
  ] as const)(
    'pms parity finds the locations of an API key through %s, and compares their whitelists',
    async (_, { permissions }) => {
      const { locationId } = await newWhitelist(2);
      const key = await gateway.newKey({ permissions, locationIds: [locationId] });
      await use(key, `/locations/${newId()}/whitelist`, '/companies');
      const rows = await json(key, 'parity');
      expect(rows).toMatchObject([
        { path: '/api/companies', items: 1, differences: [] }, // REST and GraphQL both answer FORBIDDEN
        { path: `/api/locations/${locationId}/whitelist`, items: 2, differences: [] },
      ]);
    },
  );

  test('pms parity reports each difference between REST and GraphQL, and exits with status 3', async () => {
    const { key, locationId } = await newWhitelist(3);
    await use(key, `/locations/${locationId}/whitelist`);
    const address = await distorted((_, text) => {
      const answer = JSON.parse(text);
      answer.data[1].note = 'another';
      answer.data[2].color = 'red';
      return JSON.stringify(answer);
    });
    const { code, out, err } = await pms(key, '--url', address, '--json', 'parity');
    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject([
      {
        items: 3,
        differences: [
          { field: 'data[1].note', rest: 'another', graph: 'test' },
          { field: 'data[2].color', rest: 'red' },
        ],
      },
    ]);
    expect(err).toContain('/whitelist data[1].note\n  REST:  "another"\n  graph: "test"');
    const shorter = await distorted((_, text) => {
      const answer = JSON.parse(text);
      answer.data.pop();
      return JSON.stringify(answer);
    });
    const found = await pms(key, '--url', shorter, 'parity');
    expect(found).toMatchObject({
      code: 3,
      err: expect.stringContaining('data.length\n  REST:  2\n  graph: 3'),
    });
  });

  test.each(['null', '7', '[]'])(
    'pms parity reports a difference when the body of a REST response is %s',
    async (body) => {
      const { key } = await gateway.newTenant();
      await use(key, '/locations');
      const other = await distorted((path, answer) => (path === '/api/locations' ? body : answer));
      const { code, out } = await pms(key, '--json', '--url', other, 'parity');
      expect(code).toBe(3);
      expect(JSON.parse(out)).toMatchObject([
        { path: '/api/locations', differences: [{ field: '', rest: JSON.parse(body) }] },
      ]);
    },
  );

  test('pms parity reports no difference when data changes during the comparison', async () => {
    const { key, locationId } = await newWhitelist(3);
    await use(key, `/locations/${locationId}/whitelist`);
    let changes = 0;
    const address = await distorted(async (path, text) => {
      changes += 1;
      if (!path.endsWith('/whitelist')) return text;
      // The test adds a whitelist entry during the first REST request, and changes the notes of all whitelist entries
      // during the third REST request.
      if (changes === 1)
        await prisma.whitelistEntry.create({ data: { ...newEntry(), id: newId(), locationId } });
      if (changes === 3)
        await prisma.whitelistEntry.updateMany({ where: { locationId }, data: { note: 'new' } });
      return text;
    });
    const { code, out } = await pms(key, '--url', address, '--json', 'parity');
    expect({ code, rows: JSON.parse(out) }).toMatchObject({ code: 0, rows: [{ items: 4, differences: [] }] });
    expect(changes).toBe(4);
  });

  const internalError = { code: 'INTERNAL_ERROR', message: 'Internal error', requestId: '1' };
  const restFailure = { status: 500, body: JSON.stringify({ success: false, error: internalError }) };
  const graphFailure = {
    status: 200,
    body: JSON.stringify({ data: null, errors: [{ message: 'x', extensions: internalError }] }),
  };
  const page = { status: 502, body: '<html>' };

  test.each<[string, 'rest' | 'twin' | 'graph', Replacement | 'reset']>([
    ['REST with status 500', 'rest', restFailure],
    ['REST with a page of a load balancer', 'rest', page],
    ['REST with a closed connection', 'rest', 'reset'],
    ['the translation with status 500', 'twin', restFailure],
    ['the translation with a page of a load balancer', 'twin', page],
    ['GraphQL with an internal error', 'graph', graphFailure],
    ['GraphQL with status 503', 'graph', { status: 503, body: '{}' }],
    ['GraphQL with a closed connection', 'graph', 'reset'],
  ])('pms parity repeats a read when the gateway once answers %s', async (_, failed, replacement) => {
    const { key, locationId } = await newWhitelist(3);
    await use(key, `/locations/${locationId}/whitelist`);
    let failures = 0;
    const address = await failing((kind) => (kind === failed && ++failures === 1 ? replacement : undefined));
    const { code, out, err } = await pms(key, '--url', address, '--json', 'parity');
    expect({ code, rows: JSON.parse(out) }).toMatchObject({
      code: 0,
      rows: [{ items: 3, differences: [], obstacle: null }],
    });
    expect(failures).toBe(2);
    expect(err).toContain('; retrying in ');
  });

  test.each<[string, 'rest' | 'twin' | 'graph', Replacement]>([
    ['REST', 'rest', restFailure],
    ['REST through a load balancer', 'rest', page],
    ['the translation to GraphQL', 'twin', { status: 503, body: '{}' }],
    ['GraphQL', 'graph', graphFailure],
  ])(
    'when %s fails repeatedly for one REST path, pms parity reports that it could not compare this path, and compares all other paths',
    async (_, failed, replacement) => {
      const { key, locationId } = await newWhitelist(3);
      const path = `/locations/${locationId}/whitelist`;
      await use(key, path, path, '/companies');
      const address = await failing((kind, url) =>
        kind === failed && url !== '/api/companies' ? replacement : undefined,
      );
      const { code, out, err } = await pms(key, '--url', address, '--json', 'parity');
      expect({ code, rows: JSON.parse(out) }).toMatchObject({
        code: 3,
        rows: [
          {
            path: `/api${path}`,
            items: 0,
            differences: [],
            obstacle: expect.stringMatching(/^the gateway failed: .+/),
          },
          { path: '/api/companies', items: 1, differences: [], obstacle: null },
        ],
      });
      expect(err).not.toContain('graph: ');
    },
  );

  test('pms parity repeats a comparison when the HTTP status of the REST response changes during the comparison', async () => {
    const { key, locationId } = await newWhitelist(3);
    await use(key, `/locations/${locationId}/whitelist`);
    const error = { code: 'NOT_FOUND', message: 'Location not found or not accessible', requestId: '1' };
    const missing = { status: 404, body: JSON.stringify({ success: false, error }) };
    for (const [isMissing, code, obstacle] of [
      [(read: number) => read === 1, 0, null],
      [(read: number) => read % 2 === 1, 3, 'the data kept changing'],
    ] as const) {
      let reads = 0;
      const address = await failing((kind) => (kind === 'rest' && isMissing(++reads) ? missing : undefined));
      const parity = await pms(key, '--url', address, '--json', 'parity');
      expect({ code: parity.code, rows: JSON.parse(parity.out) }).toMatchObject({
        code,
        rows: [{ differences: [], obstacle }],
      });
    }
  });

  test('when the API key has sent a GET request to a path that does not allow GET, pms parity still compares all other read requests', async () => {
    const { key, locationId } = await newWhitelist(3);
    await use(key, `/locations/${locationId}`, `/locations/${locationId}/whitelist`);
    const { code, out } = await pms(key, '--json', 'parity');
    expect({ code, rows: JSON.parse(out) }).toMatchObject({
      code: 3,
      rows: expect.arrayContaining([
        expect.objectContaining({
          path: `/api/locations/${locationId}`,
          obstacle: 'the gateway does not allow GET for this path (405)',
        }),
        expect.objectContaining({ path: `/api/locations/${locationId}/whitelist`, items: 3, obstacle: null }),
      ]),
    });
  });

  test('pms parity prints a message when the API key has sent no request that pms can compare', async () => {
    const { key } = await gateway.newTenant();
    const unused = await pms(key, '--json', 'parity');
    expect(unused).toMatchObject({
      code: 0,
      out: '[]\n',
      err: expect.stringContaining('has not used any REST read'),
    });

    const elsewhere = await gateway.newKey({ permissions: ['READ_WHITELIST'] });
    await use(elsewhere, `/locations/${newId()}/whitelist`);
    const rows = await pms(elsewhere, 'parity');
    expect(rows).toMatchObject({
      code: 3,
      out: expect.stringContaining('not compared: found no location or resident'),
    });
    expect(await pms(key, 'parity', '--pages', '0')).toMatchObject({ code: 2 });
  });
});
