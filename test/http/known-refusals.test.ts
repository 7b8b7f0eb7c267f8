import { describe, expect, test } from 'vitest';
import { newSecret } from '../../src/auth/key-secret.ts';
import { newAddress } from '../support/addresses.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';

// After the gateway has refused a client, for example because of the rate limit, the HTTP listener directly refuses the
// next requests of this client. For a request that the HTTP listener refuses, the gateway does not run its Hono app.
// These tests check that the HTTP listener sends the same response as the Hono app.

const gateway = await sharedTestGateway();
const url = await serve(gateway);

/** Headers that may differ although two responses are otherwise equal. The tests do not compare these headers. */
const ofConnection = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];

interface Call {
  key?: string;
  address: string;
  requestId?: string;
}

const surfaces = {
  rest: { path: '/api/companies', init: {} },
  graphql: {
    path: '/graphql',
    init: { method: 'POST', body: JSON.stringify({ query: '{ companies { nodes { id } } }' }) },
  },
};

function headersOf({ key, address, requestId = 'of-this-test' }: Call) {
  return {
    'Content-Type': 'application/json',
    'X-Forwarded-For': address,
    'X-Request-Id': requestId,
    ...(key !== undefined && { 'X-API-Key': key }),
  };
}

async function shown(response: Response) {
  const names = [...response.headers.keys()].filter((name) => !ofConnection.includes(name));
  return { status: response.status, text: await response.text(), names };
}

/** Sends a request twice: over a connection to the HTTP listener, and directly to the application. */
async function bothWays(surface: keyof typeof surfaces, call: Call) {
  const { path, init } = surfaces[surface];
  const request = { ...init, headers: headersOf(call) };
  return {
    served: await shown(await fetch(url + path, request)),
    guarded: await shown(await gateway.app.request(path, request)),
  };
}

const limited = { hourlyLimit: 1, burstLimit: 1 };

describe.each(['rest', 'graphql'] as const)(
  '%s requests that the HTTP listener or the application refuses',
  (surface) => {
    test.each<[string, number, () => Promise<string | undefined>]>([
      ['a request without an API key', 401, async () => undefined],
      ['a request with a mistyped API key', 401, async () => 'pms_test_mistyped'],
      ['a request with an unknown API key', 401, async () => newSecret('development')],
      ['a request with an API key over its rate limit', 429, () => gateway.newKey(limited)],
    ])(
      'a refused request gets the same response from the HTTP listener and from the application: %s',
      async (_, status, newKey) => {
        const key = await newKey();
        const call = { ...(key !== undefined && { key }), address: newAddress() };
        // The application refuses the first request of the client, and the gateway remembers the refusal. Because the
        // gateway remembers the refusal, the HTTP listener refuses the client's second request without running the
        // application.
        await bothWays(surface, call);
        const { served, guarded } = await bothWays(surface, call);
        expect(served.status).toBe(status);
        expect(served).toEqual(guarded);
        expect(served.text).toContain('of-this-test');
      },
    );

    test('the HTTP listener and the application give the same response to a client address that has exceeded its rate limit', async () => {
      const call = { key: 'pms_test_mistyped', address: newAddress() };
      const { path, init } = surfaces[surface];
      const ask = async () => {
        const response = await fetch(url + path, { ...init, headers: headersOf(call) });
        await response.arrayBuffer();
        return response.status;
      };
      // On a busy machine, the gateway process can count some requests in its own memory instead of in Redis. If the
      // gateway process counts requests in its own memory, it can allow 101 requests, one more than the rate limit. The
      // test therefore sends groups of 101 requests until a response has status 429.
      await expect.poll(() => Promise.all(Array.from({ length: 101 }, ask))).toContain(429);
      const { served, guarded } = await bothWays(surface, call);
      expect(served.status).toBe(429);
      expect(served).toEqual(guarded);
    });
  },
);

test('when the rate limit of an API key refuses requests, each refused request appears in the usage records of the API key', async () => {
  const key = await gateway.newKey(limited);
  const requestIds = Array.from({ length: 3 }, (_, index) => `refused-${newAddress()}-${index}`);
  for (const requestId of requestIds) {
    const response = await fetch(`${url}/api/companies`, {
      headers: headersOf({ key, address: newAddress(), requestId }),
    });
    await response.arrayBuffer();
  }
  await expect
    .poll(async () => {
      const records = await gateway.database.prisma.usageRecord.findMany({
        where: { requestId: { in: requestIds } },
        orderBy: { id: 'asc' },
      });
      return records.map(({ status, errorCode }) => [status, errorCode]);
    })
    .toEqual([[200, null], ...Array.from({ length: 2 }, () => [429, 'RATE_LIMIT_EXCEEDED'])]);
});

test('a client needs no API key for the OpenAPI document and the GraphQL schema', async () => {
  for (const path of ['/api/openapi.json', '/graphql/schema.graphql']) {
    const response = await fetch(url + path, { headers: { 'X-Forwarded-For': newAddress() } });
    await response.arrayBuffer();
    expect(response.status, path).toBe(200);
  }
});

test('a refused HEAD request gets a response without a body', async () => {
  const response = await fetch(`${url}/api/companies`, {
    method: 'HEAD',
    headers: { 'X-Forwarded-For': newAddress() },
  });
  expect(response.status).toBe(401);
  expect(await response.text()).toBe('');
});

test('the HTTP listener and the application refuse a HEAD request with the same response headers', async () => {
  const headers = headersOf({ key: newSecret('development'), address: newAddress() });
  const head = async () => {
    const response = await fetch(`${url}/api/companies`, { method: 'HEAD', headers });
    return { status: response.status, names: [...response.headers.keys()] };
  };
  const byApp = await head(); // The application itself refuses the first request with an unknown API key
  const byListener = await head();
  expect(byApp.status).toBe(401);
  expect(byListener).toEqual(byApp);
});
