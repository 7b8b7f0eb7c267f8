import { setTimeout as sleep } from 'node:timers/promises';
import { parseList } from 'structured-headers';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { newEntry, openTestGateway, serve, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);

test.each([
  ['of some bytes', 0],
  ['of more than 16 KiB', 40],
  ['of more than 1 MiB', 4_000],
])(
  'a request body may begin with a byte order mark and contain multi-byte characters (body %s)',
  async (_, texts) => {
    const { key, locationId } = await gateway.newTenant();
    const notes = Array.from({ length: texts }, () => '\u{1f697}\u00e9'.repeat(100));
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: `\ufeff${JSON.stringify({
        query: `query ($plate: PlateInput!) { plateAccess(locationId: "${locationId}", plate: $plate) { reason } }`,
        variables: { plate: { plateType: 'DXB', plateCode: 'A', plateNumber: '1' }, notes },
      })}`,
    });
    expect(await response.json()).toMatchObject({ data: { plateAccess: { reason: 'NOT_LISTED' } } });
  },
);

describe('the replacement character U+FFFD in a request body', () => {
  const note = 'Caf\u{fffd} \u{1f697}';

  test('the gateway stores the replacement character U+FFFD from a REST request like any other character', async () => {
    const { locationId, key } = await gateway.newTenant();
    const answer = await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry({ note }),
    });
    expect(answer).toMatchObject({ status: 201, body: { data: { note } } });
  });

  test.each([
    ['a small body', 1],
    ['a body over 16 KiB', 200],
    ['a body over 1 MiB', 10_000],
  ])('GraphQL stores the replacement character U+FFFD in %s', async (_, rows) => {
    const { locationId, key } = await gateway.newTenant();
    const entries = Array.from({ length: rows }, (_, index) => ({
      ...newEntry({ note: note.padEnd(70, 'é'), plateNumber: String(index) }),
    }));
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        query: `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
          importWhitelistEntries(locationId: $locationId, entries: $entries) { created } }`,
        variables: { locationId, entries },
      }),
    });
    expect(await response.json()).toEqual({ data: { importWhitelistEntries: { created: rows } } });
    const notes = await gateway.database.prisma.whitelistEntry.findMany({
      distinct: 'note',
      select: { note: true },
      where: { locationId },
    });
    expect(notes).toEqual([{ note: entries[0]!.note }]);
  });
});

describe('invalid REST requests', () => {
  test.each([
    ['invalid JSON', '{"referenceId":'],
    ['nothing', ''],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"text"'],
    ['a number', '7'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ])(
    'a request body that contains %s gets VALIDATION_ERROR, and the error names no field',
    async (_, body) => {
      const { locationId, key } = await gateway.newTenant();
      const response = await fetch(`${url}/api/locations/${locationId}/whitelist`, {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body,
      });
      const answer = await response.json();
      expect(response.status).toBe(400);
      expect(answer).toMatchObject({ success: false, error: { code: 'VALIDATION_ERROR' } });
      expect(answer.error.details).toBeUndefined();
      expect(response.headers.get('X-RateLimit-Remaining')).toMatch(/^\d+$/);
    },
  );

  test('when a request body contains unknown fields, such as __proto__, the gateway ignores these fields', async () => {
    const { locationId, key } = await gateway.newTenant();
    const body = JSON.stringify(newEntry()).replace(
      '{',
      '{"__proto__":{"admin":true},"constructor":1,"color":"red",',
    );
    const answer = await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
    expect(answer.status).toBe(201);
  });

  test.each([
    ['a body with Content-Type text/plain', { 'Content-Type': 'text/plain' }, 415],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
  ])('a REST request with %s gets status 415', async (_, headers, status) => {
    const { key } = await gateway.newTenant();
    const answer = await gateway.rest('POST', '/locations', { key, headers, body: '{}' });
    expect(answer).toMatchObject({ status, body: { success: false, error: { code: 'VALIDATION_ERROR' } } });
  });

  test.each(['length', 'chunks'])(
    'a request body over 1 MiB is refused with status 413 (body sent with %s)',
    async (sentWith) => {
      const { key } = await gateway.newTenant();
      const text = JSON.stringify({ name: 'x'.repeat(1024 * 1024) });
      const response = await fetch(`${url}/api/locations`, {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json', Connection: 'close' },
        body: sentWith === 'length' ? text : new Blob([text]).stream(),
        ...(sentWith === 'chunks' && { duplex: 'half' }),
      });
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({ success: false, error: { code: 'VALIDATION_ERROR' } });
      expect(response.headers.get('X-RateLimit-Limit')).toMatch(/^\d+$/);
    },
  );

  test.each([
    ['PATCH', '/companies', 'GET'],
    ['OPTIONS', '/locations', 'GET'],
    ['DELETE', '/locations/status', 'GET'],
    ['GET', '/register/company', 'POST'],
  ])(
    'a %s request to %s gets status 405, and the response lists the allowed methods',
    async (method, path, allowed) => {
      const { key } = await gateway.newTenant();
      const answer = await gateway.rest(method, path, { key });
      expect(answer).toMatchObject({ status: 405, body: { error: { code: 'VALIDATION_ERROR' } } });
      expect(answer.headers.get('Allow')?.split(', ')).toContain(allowed);
      expect(answer.headers.get('X-RateLimit-Limit')).toMatch(/^\d+$/);
    },
  );

  test.each(['/nothing', '/companies/', '/locations/x/y/z', '/..%2f..%2fetc'])(
    'the response to a request for the unknown path %s has status 404',
    async (path) => {
      const { key } = await gateway.newTenant();
      const answer = await gateway.rest('GET', path, { key });
      expect(answer).toMatchObject({ status: 404, body: { success: false, error: { code: 'NOT_FOUND' } } });
    },
  );

  test('the response to a HEAD request has the same status as the response to a GET request, and no body', async () => {
    const { key } = await gateway.newTenant();
    const response = await fetch(`${url}/api/companies`, {
      method: 'HEAD',
      headers: { 'X-API-Key': key },
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});

describe('health endpoints', () => {
  test('the health endpoints need no API key and answer only `ok`', async () => {
    const live = await fetch(`${url}/livez`);
    expect([live.status, await live.json()]).toEqual([200, { status: 'ok' }]);
    const ready = async () => {
      const response = await fetch(`${url}/readyz`);
      return [response.status, await response.json()];
    };
    // On a busy machine, PostgreSQL or Redis may take so long to answer the gateway that `/readyz` first reports a
    // failure.
    await expect.poll(ready).toEqual([200, { status: 'ok', database: 'ok', limiter: 'ok', notices: 'ok' }]);
  });
});

test.each([
  ...['/livez', '/readyz', '/', '/console', '/reference', '/moving-to-graphql'],
  ...['/openapi.json', '/api/openapi.json', '/graphql/schema.graphql'],
])(
  'a request for the public path %s with a wrong method gets status 405 and the header Allow',
  async (path) => {
    for (const method of ['POST', 'DELETE']) {
      const response = await fetch(url + path, { method });
      expect([response.status, response.headers.get('Allow')]).toEqual([405, 'HEAD, GET']);
      expect(await response.json()).toMatchObject({
        success: false,
        error: { code: 'VALIDATION_ERROR', message: `Method ${method} is not allowed here` },
      });
    }
  },
);

describe('headers for caches and for clients without a valid API key', () => {
  test('no cache may store a REST or GraphQL response, with one exception: the client itself may store a whitelist', async () => {
    const { key, locationId } = await gateway.newTenant();
    for (const answer of [
      await gateway.rest('GET', '/companies', { key }),
      await gateway.rest('GET', '/locations/status', { key }),
      await gateway.rest('GET', `/locations/${locationId}/status`, { key }),
      await gateway.rest('GET', `/locations/${newId()}`, { key }),
      await gateway.rest('GET', '/companies'),
      await gateway.graph('{ viewer { id } }', { key }),
      await gateway.graph('{ viewer { id } }', { key }),
      await gateway.graph('{', { key }),
      await gateway.graph('{ viewer { id } }'),
    ]) {
      expect(answer.headers.get('Cache-Control')).toBe('no-store');
    }
    const whitelist = await gateway.rest('GET', `/locations/${locationId}/whitelist`, { key });
    expect(whitelist.headers.get('Cache-Control')).toBe('private, no-cache');
  });

  test('every response with status 401 names the authentication scheme in the header WWW-Authenticate', async () => {
    for (let time = 0; time < 2; time += 1) {
      for (const path of ['/api/companies', '/graphql?query={viewer{id}}']) {
        const answer = await fetch(url + path, { headers: { 'X-API-Key': 'pms_unknown' } });
        expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([
          401,
          'ApiKey realm="parking-gateway"',
        ]);
      }
    }
  });
});

describe('rate limit headers and remaining points', () => {
  const budget = 'rateLimit { name limit remaining windowSeconds resetAt }';

  test('every response of REST and GraphQL has the rate limit headers for the hourly limit and for the burst limit', async () => {
    const key = await gateway.newKey({ hourlyLimit: 50, burstLimit: 10 });
    const rest = await gateway.rest('GET', '/companies', { key });
    expect(rest.headers.get('RateLimit-Policy')).toBe('"hour";q=50;w=3600, "burst";q=10;w=60');
    expect(rest.headers.get('RateLimit')).toBe('"hour";r=49;t=3600, "burst";r=9;t=60');
    const graph = await gateway.graph('{ viewer { id } }', { key });
    expect(graph.headers.get('RateLimit-Policy')).toBe('"hour";q=50;w=3600, "burst";q=10;w=60');
    expect(graph.headers.get('RateLimit')).toMatch(/^"hour";r=48;t=\d+, "burst";r=8;t=\d+$/);
    for (const answer of [
      await gateway.rest('GET', '/nothing', { key }),
      await gateway.rest('PATCH', '/companies', { key }),
      await gateway.graph('{', { key }),
      await gateway.rest('GET', '/companies'),
      await gateway.graph('{ __typename }'),
    ]) {
      expect(answer.body.error ?? answer.body.errors).toBeDefined();
      expect(answer.headers.get('RateLimit')).toMatch(/^"hour";r=\d+;t=\d+, "burst";r=\d+;t=\d+$/);
      expect(answer.headers.get('RateLimit-Policy')).toContain('"burst";q=');
    }
  });

  test('the GraphQL field `rateLimit` reports the points that remain after the request itself has used its points', async () => {
    const key = await gateway.newKey({ hourlyLimit: 50, burstLimit: 10 });
    const answer = await gateway.graph(`{ viewer { ${budget} } }`, { key });
    expect(answer.body.errors).toBeUndefined();
    const [hour, burst] = answer.body.data.viewer.rateLimit;
    expect(hour).toMatchObject({ name: 'hour', limit: 50, remaining: 49, windowSeconds: 3600 });
    expect(burst).toMatchObject({ name: 'burst', limit: 10, remaining: 9, windowSeconds: 60 });
    const resetSeconds = (Date.parse(hour.resetAt) - Date.now()) / 1000;
    expect(resetSeconds).toBeGreaterThan(3500);
    expect(resetSeconds).toBeLessThan(3700);
  });

  test('when an administrator reads the rate limit of another API key, this uses no rate limit points of that API key', async () => {
    const { companyId } = await gateway.newTenant();
    const [admin, other] = await Promise.all([
      gateway.newKey({ companyIds: [companyId] }),
      gateway.newKey({ companyIds: [companyId], hourlyLimit: 7 }),
    ]);
    const { id } = (await gateway.graph('{ viewer { id } }', { key: other })).body.data.viewer;
    for (const remaining of [6, 6]) {
      const { data } = (await gateway.graph(`{ apiKey(id: "${id}") { ${budget} } }`, { key: admin })).body;
      expect(data.apiKey.rateLimit[0]).toMatchObject({ limit: 7, remaining });
    }
  });

  test('REST and GraphQL requests of an API key share one rate limit, and a response with status 429 has the header Retry-After', async () => {
    const key = await gateway.newKey({ hourlyLimit: 3 });
    const remaining: (string | null)[] = [];
    for (const call of [
      gateway.rest('GET', '/health', { key }),
      gateway.graph('{ health { status } }', { key }),
    ]) {
      remaining.push((await call).headers.get('X-RateLimit-Remaining'));
    }
    remaining.push((await gateway.rest('GET', '/health', { key })).headers.get('X-RateLimit-Remaining'));
    expect(remaining.sort()).toEqual(['0', '1', '2']);
    for (const refused of [
      await gateway.rest('GET', '/health', { key }),
      await gateway.graph('{ __typename }', { key }),
    ]) {
      expect(refused.status).toBe(429);
      expect(refused.body.error?.code ?? refused.body.errors[0].extensions.code).toBe('RATE_LIMIT_EXCEEDED');
      expect(refused.headers.get('X-RateLimit-Limit')).toBe('3');
      expect(refused.headers.get('X-RateLimit-Remaining')).toBe('0');
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(3500);
      expect(Number(refused.headers.get('X-RateLimit-Reset'))).toBeGreaterThan(Date.now() / 1000 + 3500);
    }
  });

  test('each root field of a GraphQL mutation costs one rate limit point', async () => {
    const { locationId } = await gateway.newTenant();
    const key = await gateway.newKey({ hourlyLimit: 4, unrestricted: true });
    const rename = (name: string) =>
      `${name}: updateLocation(id: "${locationId}", input: { name: "${name}" }) { id }`;
    const three = await gateway.graph(`mutation { ${rename('a')} ${rename('b')} ${rename('c')} }`, { key });
    expect(three.body.errors).toBeUndefined();
    expect(three.headers.get('X-RateLimit-Remaining')).toBe('1');
    const two = await gateway.graph(`mutation { ${rename('d')} ${rename('e')} }`, { key });
    expect(two.status).toBe(429);
    const location = await gateway.database.prisma.location.findUniqueOrThrow({ where: { id: locationId } });
    expect(location.name).toBe('c');
  });

  test('requests without a valid API key count towards the rate limit of the client address', async () => {
    const headers = { 'X-Forwarded-For': `flood-${process.hrtime.bigint()}` };
    const statuses = [];
    for (let index = 0; index < 101; index += 1) {
      statuses.push(
        (await gateway.rest('GET', '/health', { headers, ...(index % 2 && { key: 'wrong' }) })).status,
      );
    }
    expect(statuses.slice(0, 100).every((status) => status === 401)).toBe(true);
    expect(statuses[100]).toBe(429);
  });
});

describe('a client that obeys the rate limit headers', () => {
  test('a client that obeys the rate limit headers of REST and GraphQL never gets status 429, even when it uses two gateway processes', async () => {
    const windows = { RATE_LIMIT_WINDOW_SECONDS: '4', RATE_LIMIT_BURST_WINDOW_SECONDS: '1' };
    const first = await openTestGateway(windows);
    // Two gateway processes can share rate limits only if they use Redis, and can share a database only if they use
    // PostgreSQL. Without Redis or PostgreSQL, the test uses only one gateway process.
    const second =
      process.env.REDIS_URL && first.config.databaseUrl
        ? await openTestGateway({ ...windows, DATABASE_URL: first.config.databaseUrl })
        : first;
    const key = await first.newKey({ hourlyLimit: 12, burstLimit: 5 });
    const calls = [first, second].flatMap((process) => [
      () => process.rest('GET', '/health', { key }),
      () => process.graph('{ health { status } }', { key }),
    ]);
    const statuses = new Map<number, number>();
    for (let index = 0; index < 32; index += 1) {
      const { status, headers } = await calls[index % calls.length]!();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const waits = parseList(headers.get('RateLimit')!).map(([, parameters]) =>
        parameters.get('r') === 0 ? Number(parameters.get('t')) : 0,
      );
      await sleep(Math.max(...waits) * 1000);
    }
    expect([...statuses]).toEqual([[200, 32]]);
  });
});
