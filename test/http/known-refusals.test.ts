import { describe, expect, test } from 'vitest';
import { newSecret } from '../../src/auth/key-secret.ts';
import { newAddress } from '../support/addresses.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';

// The HTTP listener answers requests that are certainly refused before the application runs. The response must equal
// the response of the application.

const gateway = await sharedTestGateway();
const url = await serve(gateway);

/** Headers that the comparison ignores, because they belong to the connection or depend on the time. */
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

/** Sends the same request to the HTTP listener and, without a connection, to the application. */
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
  'the HTTP listener and the application refuse a request on %s with equal responses',
  (surface) => {
    test.each<[string, number, () => Promise<string | undefined>]>([
      ['a request without a key', 401, async () => undefined],
      ['a request with a mistyped key', 401, async () => 'pms_test_mistyped'],
      ['a request with an unknown key', 401, async () => newSecret('development')],
      ['a request with a key over its limit', 429, () => gateway.newKey(limited)],
    ])('%s gets the same response from the listener and from the app', async (_, status, newKey) => {
      const key = await newKey();
      const call = { ...(key !== undefined && { key }), address: newAddress() };
      // The process remembers a refusal, so the HTTP listener answers from the second request on.
      await bothWays(surface, call);
      const { served, guarded } = await bothWays(surface, call);
      expect(served.status).toBe(status);
      expect(served).toEqual(guarded);
      expect(served.text).toContain('of-this-test');
    });

    test('a client address over its rate limit gets equal responses from the HTTP listener and from the application', async () => {
      const call = { key: 'pms_test_mistyped', address: newAddress() };
      const { path, init } = surfaces[surface];
      const ask = async () => {
        const response = await fetch(url + path, { ...init, headers: headersOf(call) });
        await response.arrayBuffer();
        return response.status;
      };
      // On a busy machine, this process alone may count some of the requests.
      await expect.poll(() => Promise.all(Array.from({ length: 101 }, ask))).toContain(429);
      const { served, guarded } = await bothWays(surface, call);
      expect(served.status).toBe(429);
      expect(served).toEqual(guarded);
    });
  },
);

test("the usage of a key contains each request that was refused because of the key's rate limit", async () => {
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

test('a refused HEAD request gets equal headers from the HTTP listener and from the application', async () => {
  const headers = headersOf({ key: newSecret('development'), address: newAddress() });
  const head = async () => {
    const response = await fetch(`${url}/api/companies`, { method: 'HEAD', headers });
    return { status: response.status, names: [...response.headers.keys()] };
  };
  const byApp = await head(); // Only a look-up in the database shows that the key is unknown
  const byListener = await head();
  expect(byApp.status).toBe(401);
  expect(byListener).toEqual(byApp);
});
