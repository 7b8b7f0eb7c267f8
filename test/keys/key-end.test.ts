import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { newEntry, openTestGateway, serve } from '../support/harness.ts';
import { keyOperations } from '../support/keys.ts';
import { locksOf } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';

// These tests check that a long response ends when the API key of the client loses access.

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ OPERATOR_API_KEY: operator });
const keys = keyOperations(gateway);
const url = await serve(gateway);

/**
 * The number of whitelist entries in a long whitelist. A whitelist entry has about 1.5 KB. A response with the whole
 * whitelist is therefore much larger than the socket buffers of the client and the server.
 */
const entriesOfLongList = 15_000;

/** Creates a location with a long whitelist, and an API key that may read the whitelist. */
async function newLongList() {
  const { companyId, locationId } = await gateway.newTenant();
  await gateway.database.prisma.$executeRaw`
    INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber", note)
    SELECT "new_id"(), ${locationId}, 'unit', 'DXB', 'A', n::text, repeat('م', 500)
    FROM generate_series(1, ${entriesOfLongList}::int) n`;
  const { secret, apiKey } = await keys.create(operator, {
    permissions: ['READ_WHITELIST'],
    companyIds: [companyId],
  });
  return { path: `/locations/${locationId}/whitelist`, secret, id: apiKey.id };
}

/** Requests a list over a connection, and stops reading the response after the first bytes. */
async function startReading(path: string, secret: string): Promise<IncomingMessage> {
  const request = get(`${url}/api${path}`, { headers: { 'X-API-Key': secret } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await once(response, 'readable');
  return response;
}

const ends: [string, (id: string) => Promise<unknown>][] = [
  ['is revoked', (id) => keys.revoke(operator, id)],
  ['is rotated without grace', (id) => keys.rotate(operator, id, 0)],
  ['loses its company', (id) => keys.update(operator, id, { companyIds: [] })],
  ['loses the permission', (id) => keys.update(operator, id, { permissions: ['READ_LOCATIONS'] })],
];

describe('streaming of a list without pages', () => {
  test.each(ends)(
    'the gateway stops streaming a list without pages when the API key of the client %s',
    async (_, end) => {
      const { path, secret, id } = await newLongList();
      const response = await startReading(path, secret);
      await end(id);
      let received = '';
      await expect(
        (async () => {
          for await (const part of response.setEncoding('utf8')) received += part as string;
        })(),
      ).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(response.complete).toBe(false);
      expect(received).not.toContain('rror');
    },
  );

  test('the gateway continues to stream a list without pages when the API key changes but keeps its access to the list', async () => {
    const { path, secret, id } = await newLongList();
    const response = await startReading(path, secret);
    await keys.rotate(operator, id, 600);
    await keys.update(operator, id, { name: 'Renamed', permissions: ['READ_WHITELIST', 'READ_STATUS'] });
    const { data } = JSON.parse(await text(response)) as { data: unknown[] };
    expect(data).toHaveLength(entriesOfLongList);
  });
});

describe('requests whose body arrives slowly', () => {
  const surfaces: [string, (locationId: string) => { path: string; body: unknown }][] = [
    ['REST', (locationId) => ({ path: `/api/locations/${locationId}/whitelist`, body: newEntry() })],
    [
      'GraphQL',
      (locationId) => ({
        path: '/graphql',
        body: {
          query:
            'mutation ($locationId: ID!, $input: WhitelistEntryInput!) { createWhitelistEntry(locationId: $locationId, input: $input) { id } }',
          variables: { locationId, input: newEntry() },
        },
      }),
    ],
  ];
  const cases = surfaces.flatMap(([surface, requestFor]) =>
    ends.map(([reason, end], index) => ({
      surface,
      reason,
      requestFor,
      end,
      code: index < 2 ? 'UNAUTHORIZED' : 'FORBIDDEN',
    })),
  );

  test.each(cases)(
    'a $surface request changes nothing when its API key $reason before the body has arrived',
    async ({ requestFor, end, code }) => {
      const { companyId, locationId } = await gateway.newTenant();
      const { secret, apiKey } = await keys.create(operator, {
        permissions: ['WRITE_WHITELIST'],
        companyIds: [companyId],
      });
      const { path, body } = requestFor(locationId);
      let finish = () => {};
      const answered = gateway.app.request(path, {
        method: 'POST',
        headers: { 'X-API-Key': secret, 'Content-Type': 'application/json' },
        body: new ReadableStream({
          start: (stream) => {
            finish = () => {
              stream.enqueue(new TextEncoder().encode(JSON.stringify(body)));
              stream.close();
            };
          },
        }),
        duplex: 'half',
      } as RequestInit);
      // The guard must accept the request before the API key loses its access.
      await gateway.rest('GET', '/health', { key: secret });
      await end(apiKey.id);
      finish();
      expect(await (await answered).text()).toContain(`"code":"${code}"`);
      expect(await gateway.database.prisma.whitelistEntry.count({ where: { locationId } })).toBe(0);
    },
  );
});

describe.runIf(testServerUrl)('imports of an API key that is revoked', () => {
  const { lock, waitingConnections } = locksOf(gateway);

  async function newImporter() {
    const { companyId, locationId } = await gateway.newTenant();
    const { secret, apiKey } = await keys.create(operator, {
      permissions: ['WRITE_WHITELIST', 'READ_WHITELIST'],
      companyIds: [companyId],
    });
    const importRows = async (count: number) => {
      const entries = Array.from({ length: count }, (_, index) => newEntry({ plateNumber: String(index) }));
      const { body } = await gateway.graph(
        `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
          importWhitelistEntries(locationId: $locationId, entries: $entries) { created } }`,
        { key: secret, variables: { locationId, entries } },
      );
      return body.errors?.[0].extensions.code ?? body.data.importWhitelistEntries.created;
    };
    return { locationId, secret, importRows, revoke: () => keys.revoke(operator, apiKey.id) };
  }

  test('an import that waits for another import of its API key changes nothing', async () => {
    const { locationId, secret, importRows, revoke } = await newImporter();
    const unlock = await lock([locationId]);
    const running = importRows(1);
    await expect.poll(() => waitingConnections()).toBe(1);
    const waiting = importRows(2);
    await gateway.rest('GET', '/health', { key: secret });
    await revoke();
    await unlock();
    expect([await running, await waiting]).toEqual([1, 'UNAUTHORIZED']);
  });

  test('an import ends after the batch that has begun', async () => {
    const { locationId, importRows, revoke } = await newImporter();
    const unlock = await lock([locationId]);
    const running = importRows(7_500);
    await expect.poll(() => waitingConnections()).toBe(1);
    await revoke();
    await unlock();
    expect(await running).toBe('UNAUTHORIZED');
    expect(await gateway.database.prisma.whitelistEntry.count({ where: { locationId } })).toBe(2_500);
  });
});

describe('subscriptions whose API key loses access', () => {
  test.each(ends.slice(0, 2))(
    'a subscription ends with UNAUTHORIZED when the API key of its client %s',
    async (_, end) => {
      await endsWith(end, 'UNAUTHORIZED');
    },
  );
  test.each(ends.slice(2))(
    'a subscription ends with FORBIDDEN when the API key of its client %s',
    async (_, end) => {
      await endsWith(end, 'FORBIDDEN');
    },
  );

  async function endsWith(end: (id: string) => Promise<unknown>, code: string) {
    const { companyId, locationId } = await gateway.newTenant();
    const { secret, apiKey } = await keys.create(operator, {
      permissions: ['READ_STATUS', 'READ_WHITELIST'],
      companyIds: [companyId],
    });
    const query = `subscription { locationStatusChanged(locationId: "${locationId}") { state } }`;
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'X-API-Key': secret,
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
      },
      body: JSON.stringify({ query }),
    });
    await end(apiKey.id);
    expect(await response.text()).toContain(`"code":"${code}"`);
  }
});
