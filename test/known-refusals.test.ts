import { describe, expect, test } from 'vitest';
import { newSecret } from '../src/auth/key-secret.ts';
import { newAddress } from './support/addresses.ts';
import { openTestGateway, serve } from './support/harness.ts';

// What is known to be refused is answered before the app. Clients must not see a difference to what the guard says,
// which a request within the process gets.

const gateway = await openTestGateway();
const url = await serve(gateway);

/** Headers of the connection, and those whose values follow from the moment. */
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

/** The same request by way of the listener, and within the process. */
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
  'a refusal on %s is told alike before the app and by it',
  (surface) => {
    test.each<[string, number, () => Promise<string | undefined>]>([
      ['without a key', 401, async () => undefined],
      ['with a mistyped key', 401, async () => 'pms_test_mistyped'],
      ['with a key that nobody has', 401, async () => newSecret('development')],
      ['with a key that is over its limit', 429, () => gateway.newKey(limited)],
    ])('%s', async (_, status, newKey) => {
      const key = await newKey();
      const call = { ...(key !== undefined && { key }), address: newAddress() };
      // From the second time on the process knows.
      await bothWays(surface, call);
      const { served, guarded } = await bothWays(surface, call);
      expect(served.status).toBe(status);
      expect(served).toEqual(guarded);
      expect(served.text).toContain('of-this-test');
    });

    test('from an address that is over its limit', async () => {
      const call = { key: 'pms_test_mistyped', address: newAddress() };
      const { path, init } = surfaces[surface];
      const ask = async () => {
        const response = await fetch(url + path, { ...init, headers: headersOf(call) });
        await response.arrayBuffer();
        return response.status;
      };
      // On a busy machine some are counted by this process alone.
      await expect.poll(() => Promise.all(Array.from({ length: 101 }, ask))).toContain(429);
      const { served, guarded } = await bothWays(surface, call);
      expect(served.status).toBe(429);
      expect(served).toEqual(guarded);
    });
  },
);

test('a refused key leaves a record of each request', async () => {
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

test('what is public needs no key', async () => {
  for (const path of ['/api/openapi.json', '/graphql/schema.graphql']) {
    const response = await fetch(url + path, { headers: { 'X-Forwarded-For': newAddress() } });
    await response.arrayBuffer();
    expect(response.status, path).toBe(200);
  }
});

test('an answer to HEAD has no body', async () => {
  const response = await fetch(`${url}/api/companies`, {
    method: 'HEAD',
    headers: { 'X-Forwarded-For': newAddress() },
  });
  expect(response.status).toBe(401);
  expect(await response.text()).toBe('');
});
