import { parseList } from 'structured-headers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { routes } from '../../rest/routes.ts';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { newId } from '../../src/ids.ts';
import { newAddress } from '../support/addresses.ts';
import { newEntry, openTestGateway, serve } from '../support/harness.ts';

const gateway = await openTestGateway({
  BROWNOUTS: '2027-03-01T14:00Z/PT12H,2027-05-01T00:00+04:00/P1DT30M',
});
const { prisma } = gateway.database;

const deprecatedRoutes = routes.filter(({ successor }) => successor);

afterEach(() => {
  vi.useRealTimers();
});

/** Sets the clock of the gateway to the given time, and stops the clock. */
const freezeClock = (at: string) => vi.useFakeTimers({ toFake: ['Date'], now: new Date(at) });

const call = (route: (typeof routes)[number], locationId: string, key: string, headers = {}) =>
  gateway.rest(route.method, route.path.replace('{locationId}', locationId).replace('{residentId}', 'r'), {
    key,
    headers,
    ...(route.method === 'POST' && { body: newEntry() }),
  });

describe('brownouts (planned outages of deprecated routes)', () => {
  test.each([
    ['2027-03-01T13:59:59.999Z', false],
    ['2027-03-01T14:00:00.000Z', true],
    ['2027-03-02T01:59:59.999Z', true],
    ['2027-03-02T02:00:00.000Z', false],
    ['2027-04-30T20:00:00.000Z', true],
    ['2027-05-01T20:29:59.999Z', true],
    ['2027-05-01T20:30:00.000Z', false],
  ])('a brownout (planned outage) disables the deprecated routes at the time %s: %s', async (now, isOff) => {
    const { key, locationId } = await gateway.newTenant();
    freezeClock(now);
    for (const route of deprecatedRoutes) {
      const answer = await call(route, locationId, key);
      expect(answer.status === 410, route.path).toBe(isOff);
      if (!isOff) continue;
      expect(answer.body).toEqual({
        success: false,
        error: {
          code: 'NOT_FOUND',
          message: expect.stringContaining('switched off until'),
          requestId: answer.headers.get('X-Request-Id'),
        },
      });
      expect(answer.headers.get('Link')).toContain(`</api/locations/${locationId}/whitelist`);
      expect(answer.headers.get('X-RateLimit-Remaining')).not.toBeNull();
    }
    expect(await prisma.whitelistEntry.count({ where: { locationId } })).toBe(isOff ? 0 : 1);
  });

  test('a brownout (planned outage of deprecated routes) does not affect other routes or GraphQL requests', async () => {
    const { key, locationId } = await gateway.newTenant();
    freezeClock('2027-03-01T15:00:00Z');
    for (const route of routes.filter(({ method, successor }) => method === 'GET' && !successor)) {
      const answer = await call(route, locationId, key);
      expect(answer.status, route.path).toBe(200);
      expect(answer.headers.get('Brownout')).toBeNull();
    }
    for (const route of deprecatedRoutes) {
      const answer = await call(route, locationId, key, { Accept: 'application/graphql-request+json' });
      expect(answer).toMatchObject({ status: 200, body: { query: expect.any(String) } });
    }
  });

  test.each([
    ['2026-12-01T00:00:00Z', 2],
    ['2027-03-01T15:00:00Z', 2],
    ['2027-03-02T02:00:00Z', 1],
    ['2027-06-01T00:00:00Z', 0],
  ])(
    'at the time %s, the header Brownout lists the brownouts (planned outages) that have not ended yet',
    async (now, announced) => {
      const { key, locationId } = await gateway.newTenant();
      freezeClock(now);
      for (const route of deprecatedRoutes) {
        const { headers } = await call(route, locationId, key);
        const times = parseList(headers.get('Brownout') ?? '').map(([time]) => time);
        expect(times).toEqual(
          [
            '2027-03-01T14:00:00.000Z/2027-03-02T02:00:00.000Z',
            '2027-04-30T20:00:00.000Z/2027-05-01T20:30:00.000Z',
          ].slice(2 - announced),
        );
      }
    },
  );

  test.each([
    '2027-03-01',
    '2027-03-01T14:00Z',
    '2027-03-01T14:00/PT1H',
    '2027-13-01T14:00Z/PT1H',
    '2027-02-30T14:00Z/PT1H',
    '2027-04-31T14:00+04:00/PT1H',
    '2027-03-01T14:00Z/PT0M',
    '2027-03-01T14:00Z/P',
    '2027-03-01T14:00Z/P1M',
    ',',
  ])('the gateway does not start when the variable BROWNOUTS has the value %s', (text) => {
    expect(() => loadConfig({ BROWNOUTS: text })).toThrow(ConfigError);
    expect(() => loadConfig({ BROWNOUTS: text })).toThrow(/^BROWNOUTS must be times with a duration/);
  });
});

describe('requests to a deprecated route with a body that the gateway refuses', () => {
  const refusedBodies = [
    ['is not JSON text', 'text/plain', 'x', 415],
    ['is malformed JSON', 'application/json', '{', 400],
    ['is malformed UTF-8', 'application/json', new Uint8Array([0x22, 0xff, 0x22]), 400],
    ['is larger than 1 MiB', 'application/json', 'x'.repeat(1024 * 1024 + 1), 413],
  ] as const;

  /** Posts a request body to the deprecated route that creates a resident. */
  async function post(contentType: string, body: BodyInit, now: string) {
    const { key, locationId } = await gateway.newTenant();
    freezeClock(now);
    const response = await gateway.app.request(`/api/locations/${locationId}/residents`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': contentType },
      body,
    });
    // The embedded database needs the real clock for its timeouts, so the test restores the real clock directly after
    // the request.
    vi.useRealTimers();
    const { headers } = response;
    expect(headers.get('Deprecation')).toMatch(/^@\d+$/);
    expect(headers.get('Sunset')).toBe('Wed, 30 Jun 2027 00:00:00 GMT');
    expect(headers.get('Link')).toContain(`</api/locations/${locationId}/whitelist>`);
    expect(headers.get('X-RateLimit-Remaining')).not.toBeNull();
    return { key, response };
  }

  test.each(refusedBodies)(
    'the response of a deprecated route has the deprecation headers even when the request body %s',
    async (_, contentType, body, status) => {
      const { response } = await post(contentType, body, '2026-12-01T00:00:00Z');
      expect(response.status).toBe(status);
    },
  );

  test.each(refusedBodies)(
    'a brownout (planned outage) disables a deprecated route even when the request body %s',
    async (_, contentType, body) => {
      const { response } = await post(contentType, body, '2027-03-01T15:00:00Z');
      expect(response.status).toBe(410);
    },
  );

  test.each(refusedBodies)(
    'a request counts as use of a deprecated route even when the request body %s',
    async (...row) => {
      const [, contentType, body] = row;
      const { key } = await post(contentType, body, '2027-03-01T15:00:00Z');
      await expect
        .poll(async () => {
          const document = '{ viewer { deprecations { operation } } }';
          return (await gateway.graph(document, { key })).body.data.viewer.deprecations;
        })
        .toEqual([{ operation: 'POST /locations/{locationId}/residents' }]);
    },
  );
});

describe('requests to a deprecated route that the gateway refuses before it matches the route', () => {
  test.each<[string, number, () => Promise<string | undefined>]>([
    ['without an API key', 401, async () => undefined],
    ['with a mistyped API key', 401, async () => 'pms_test_mistyped'],
    ['with an API key over its rate limit', 429, () => gateway.newKey({ hourlyLimit: 1, burstLimit: 1 })],
  ])(
    'when the gateway refuses a request %s to a deprecated route, the response still has the deprecation headers',
    async (_, status, newKey) => {
      const { locationId } = await gateway.newTenant();
      const url = await serve(gateway);
      for (const { method, path, successor } of deprecatedRoutes) {
        const key = await newKey();
        const headers = { 'X-Forwarded-For': newAddress(), ...(key !== undefined && { 'X-API-Key': key }) };
        const address = `/api${path.replace('{locationId}', locationId).replace('{residentId}', 'r')}`;
        const call = () => fetch(url + address, { method, headers });
        await call();
        // After the application has refused a client's second request, the gateway remembers this refusal. On a route
        // that is not deprecated, the HTTP listener then refuses further requests of the client, and the application
        // does not get these requests. On a deprecated route, the HTTP listener must pass the request to the
        // application `gateway.app`, because only the application adds the deprecation headers.
        for (const answer of [
          await call(),
          await call(),
          await gateway.app.request(address, { method, headers }),
        ]) {
          const [replacement] = successor!.split('{locationId}')[1]!.split('?');
          expect(answer.status).toBe(status);
          expect(answer.headers.get('Deprecation')).toMatch(/^@\d+$/);
          expect(answer.headers.get('Sunset')).toBe('Wed, 30 Jun 2027 00:00:00 GMT');
          expect(answer.headers.get('Link')).toContain(`</api/locations/${locationId}${replacement}`);
        }
      }
    },
  );
});

test('the response of a deprecated route links to the route that replaces it, and to a guide that needs no API key', async () => {
  const { key, locationId } = await gateway.newTenant();
  for (const route of deprecatedRoutes) {
    const link = (await call(route, locationId, key)).headers.get('Link')!;
    expect(link).toMatch(/^<\/api\/locations\/[^>]+>; rel="successor-version", </);
    const [, address, anchor] = /<([^>#]+)#([^>]+)>; rel="deprecation"/.exec(link)!;
    const guide = await gateway.app.request(address!);
    expect(guide.status).toBe(200);
    expect(await guide.text()).toContain(`id="${anchor}"`);
  }
});

describe('the field `deprecations` of an API key', () => {
  const document = '{ operation requests lastUsedAt removedAt replacement }';
  const idOf = async (key: string) =>
    (await gateway.graph('{ viewer { id } }', { key })).body.data.viewer.id as string;

  /** Stores usage records for an API key, as the gateway does when the key sends requests. */
  const used = (apiKeyId: string, ...requests: [string, Date][]) =>
    prisma.usageRecord.createMany({
      data: requests.map(([operation, createdAt]) => ({
        apiKeyId,
        requestId: newId(),
        surface: 'rest',
        operation,
        status: 200,
        durationMs: 1,
        address: 'test',
        createdAt,
      })),
    });

  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
  const residents = 'GET /locations/{locationId}/residents';

  test('the field `deprecations` lists the deprecated operations that an API key used in the last 31 days, with their replacements', async () => {
    const { companyId, key: administrator } = await gateway.newTenant();
    const key = await gateway.newKey({ companyIds: [companyId], permissions: ['READ_WHITELIST'] });
    const id = await idOf(key);
    const lastUsedAt = daysAgo(1);
    await used(
      id,
      [residents, daysAgo(2)],
      [residents, lastUsedAt],
      [residents, daysAgo(32)],
      [`twin of ${residents}`, daysAgo(1)],
      ['GET /locations/{locationId}/whitelist', daysAgo(1)],
    );
    const expected = [
      {
        operation: residents,
        requests: 2,
        lastUsedAt: lastUsedAt.toISOString(),
        removedAt: '2027-06-30T00:00:00.000Z',
        replacement: 'GET /locations/{locationId}/whitelist',
      },
    ];
    const own = await gateway.graph(`{ viewer { deprecations ${document} } }`, { key });
    expect(own.body.data.viewer.deprecations).toEqual(expected);
    const administered = await gateway.graph(
      `query ($id: ID!) { apiKey(id: $id) { deprecations ${document} } }`,
      { key: administrator, variables: { id } },
    );
    expect(administered.body.data.apiKey.deprecations).toEqual(expected);

    const { key: outsider } = await gateway.newTenant();
    const denied = await gateway.graph(`query ($id: ID!) { apiKey(id: $id) { deprecations ${document} } }`, {
      key: outsider,
      variables: { id },
    });
    expect(denied.body.data.apiKey).toBeNull();
  });

  test('the field `deprecations` lists every deprecated route to which an API key has sent a request', async () => {
    const { key, locationId } = await gateway.newTenant();
    for (const route of deprecatedRoutes) await call(route, locationId, key);
    await expect
      .poll(async () => {
        const { body } = await gateway.graph(`{ viewer { deprecations ${document} } }`, { key });
        return body.data.viewer.deprecations.map(({ operation }: { operation: string }) => operation);
      })
      .toEqual(deprecatedRoutes.map(({ method, path }) => `${method} ${path}`).sort());
  });
});
