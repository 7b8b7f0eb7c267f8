import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { wholeListBody } from '../../rest/whole-list.ts';
import { authenticatedKey, type ScopedApiKey } from '../../src/auth/key.ts';
import { reauthenticate } from '../../src/auth/reauthenticate.ts';
import type { Context } from '../../src/context.ts';
import { createLargeValues } from '../../src/database/large-values.ts';
import type { Sql } from '../../src/database/types.ts';
import { keyInvalid } from '../../src/errors/error-table.ts';
import { newId } from '../../src/ids.ts';
import type { DeferredJson } from '../../src/scheduling/deferred-json.ts';
import { yieldToEventLoop } from '../../src/scheduling/yield.ts';
import { firstBatchRows } from '../../src/whitelist/import/import.ts';
import { newEntry, openTestGateway, serve } from '../support/harness.ts';
import { keyOperations } from '../support/keys.ts';
import { letChangesWait, locksOf } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';

// These tests check that a long response ends when the API key of the client loses access.

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ OPERATOR_API_KEY: operator });
const keys = keyOperations(gateway);
const url = await serve(gateway);

/**
 * The number of whitelist entries in a long whitelist. Each whitelist entry takes about 1.5 KB in the response. A
 * response with the whole whitelist is therefore larger than the socket buffers of the client and the server together.
 */
const entriesOfLongList = 15_000;

/**
 * Creates a location with a long whitelist, and an API key that may read the whitelist.
 *
 * @param scope whether the scope of the API key contains the whole company or one location
 */
async function newLongList(scope: 'company' | 'location' = 'company') {
  const { companyId, locationId } = await gateway.newTenant();
  await gateway.database.prisma.$executeRaw`
    INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber", note)
    SELECT "new_id"(), ${locationId}, 'unit', 'DXB', 'A', n::text, repeat('م', 500)
    FROM generate_series(1, ${entriesOfLongList}::int) n`;
  const { secret, apiKey } = await keys.create(operator, {
    permissions: ['READ_WHITELIST'],
    ...(scope === 'company' ? { companyIds: [companyId] } : { locationIds: [locationId] }),
  });
  return { path: `/locations/${locationId}/whitelist`, secret, id: apiKey.id, companyId };
}

/** Requests a list, and stops reading the response after its first bytes. */
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
    'the gateway stops streaming a whole list when the API key of the client loses access (the key %s)',
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

  test('a change of an API key does not end the stream of a list if the API key loses no permission and no part of its scope', async () => {
    const { path, secret, id, companyId } = await newLongList('location');
    const response = await startReading(path, secret);
    await keys.rotate(operator, id, 600);
    await keys.update(operator, id, { name: 'Renamed', permissions: ['READ_WHITELIST', 'READ_STATUS'] });
    // The new scope contains the company that owns the location, so the location stays in the scope of the API key.
    await keys.update(operator, id, { companyIds: [companyId], locationIds: [] });
    const { data } = JSON.parse(await text(response)) as { data: unknown[] };
    expect(data).toHaveLength(entriesOfLongList);
  });
});

test('an API key loses a location from its scope only if the new scope contains neither the location nor the company of the location', async () => {
  const keyWith = (companyIds: string[], locations: ScopedApiKey['locations']) => {
    const companies = companyIds.map((id) => ({ id }));
    return authenticatedKey({ permissions: [], companies, locations } as unknown as ScopedApiKey, 'secret');
  };
  const [location, neighbour, other] = [
    { id: 'location', companyId: 'company' },
    { id: 'neighbour', companyId: 'company' },
    { id: 'other', companyId: 'other' },
  ];
  const before = keyWith([], [location!, other!]);
  const outcomeWith = (companyIds: string[], locations: ScopedApiKey['locations']) => {
    const authenticate = () => Promise.resolve(keyWith(companyIds, locations));
    return reauthenticate({ authenticate }, 'secret', before).then(
      () => 'kept',
      ({ code }: { code: string }) => code,
    );
  };
  expect(await outcomeWith(['company'], [other!])).toBe('kept');
  expect(await outcomeWith(['other'], [neighbour!, location!])).toBe('kept');
  expect(await outcomeWith([], [neighbour!, other!])).toBe('FORBIDDEN');
  expect(await outcomeWith(['company'], [])).toBe('FORBIDDEN');
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
    'a $surface request changes nothing when its API key loses access before the request body has arrived (the key $reason)',
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
      // During the request to `/health`, the gateway can accept the POST request. The API key still has access at this
      // time.
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
    const importRows = async (count: number, { dryRun = false } = {}) => {
      const entries = Array.from({ length: count }, (_, index) => newEntry({ plateNumber: String(index) }));
      const { body } = await gateway.graph(
        `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!, $dryRun: Boolean!) {
          importWhitelistEntries(locationId: $locationId, entries: $entries, dryRun: $dryRun) { created } }`,
        { key: secret, variables: { locationId, entries, dryRun } },
      );
      return body.errors?.[0].extensions.code ?? body.data.importWhitelistEntries.created;
    };
    return { locationId, secret, importRows, revoke: () => keys.revoke(operator, apiKey.id) };
  }

  test.each([{ dryRun: false }, { dryRun: true }])(
    'an import (dryRun: $dryRun) that waits for another import ends with UNAUTHORIZED when its API key is revoked',
    async (options) => {
      const { locationId, secret, importRows, revoke } = await newImporter();
      const unlock = await lock([locationId]);
      const running = importRows(1);
      await expect.poll(() => waitingConnections()).toBe(1);
      const waiting = importRows(2, options);
      await gateway.rest('GET', '/health', { key: secret });
      await revoke();
      await unlock();
      expect([await running, await waiting]).toEqual([1, 'UNAUTHORIZED']);
    },
  );

  test('after an API key is revoked during an import, the import writes its current batch of rows and then ends', async () => {
    const { locationId, importRows, revoke } = await newImporter();
    const unlock = await lock([locationId]);
    const running = importRows(7_500);
    await expect.poll(() => waitingConnections()).toBe(1);
    await revoke();
    await unlock();
    expect(await running).toBe('UNAUTHORIZED');
    expect(await gateway.database.prisma.whitelistEntry.count({ where: { locationId } })).toBe(
      firstBatchRows,
    );
  });
});

describe.runIf(testServerUrl)('changes that wait for a location while their API key loses access', () => {
  const { lock, waitingConnections } = locksOf(gateway);
  const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7' };

  const changes: Record<string, { field: string; type: string; value: unknown }> = {
    recordParkingEvent: {
      field: 'recordParkingEvent(locationId: $id, input: $value) { id }',
      type: 'ParkingEventInput!',
      value: { eventId: 'waiting', kind: 'ENTRY', plate, occurredAt: '2026-03-01T08:00:00Z' },
    },
    recordParkingEvents: {
      field: 'recordParkingEvents(locationId: $id, events: $value) { total }',
      type: '[ParkingEventInput!]!',
      value: [{ eventId: 'batch', kind: 'ENTRY', plate, occurredAt: '2026-03-01T08:00:00Z' }],
    },
    setInside: {
      field: 'setInside(locationId: $id, plates: $value) { occupied }',
      type: '[PlateInput!]!',
      value: [plate],
    },
    adjustOccupancy: {
      field: 'adjustOccupancy(locationId: $id, occupied: $value) { occupied }',
      type: 'Int!',
      value: 7,
    },
    setQuotas: {
      field: 'setQuotas(locationId: $id, quotas: $value) { referenceId }',
      type: '[QuotaInput!]!',
      value: [{ referenceId: 'unit', inside: 2 }],
    },
    updateLocation: {
      field: 'updateLocation(id: $id, input: $value) { id }',
      type: 'UpdateLocationInput!',
      value: { capacity: 20 },
    },
    importWhitelistEntries: {
      field: 'importWhitelistEntries(locationId: $id, entries: $value) { created }',
      type: '[WhitelistEntryInput!]!',
      value: [newEntry()],
    },
  };

  const cases: [string, string, (id: string) => Promise<unknown>][] = [
    ['UNAUTHORIZED', 'is revoked', (id) => keys.revoke(operator, id)],
    ['FORBIDDEN', 'loses its company', (id) => keys.update(operator, id, { companyIds: [] })],
  ];
  test.each(cases)(
    'a request that waits for a locked location changes nothing when its API key loses access (error %s, the key %s)',
    async (code, _, end) => {
      const { companyId, locationId } = await gateway.newTenant();
      const { secret, apiKey } = await keys.create(operator, {
        permissions: [
          ...['READ_LOCATIONS', 'WRITE_LOCATIONS', 'READ_WHITELIST', 'WRITE_WHITELIST'],
          ...['READ_ACTIVITY', 'WRITE_ACTIVITY', 'READ_STATUS'],
        ],
        companyIds: [companyId],
      });
      const send = async ({ field, type, value }: (typeof changes)[string]) => {
        const { body } = await gateway.graph(`mutation ($id: ID!, $value: ${type}) { ${field} }`, {
          key: secret,
          variables: { id: locationId, value },
        });
        return body.errors?.[0].extensions.code ?? 'changed';
      };
      const waitingChanges = letChangesWait();
      const unlock = await lock([locationId]);
      const { recordParkingEvent } = changes;
      const first = send({
        ...recordParkingEvent!,
        value: { ...recordParkingEvent!.value!, eventId: 'first' },
      });
      await expect.poll(() => waitingConnections()).toBe(1);
      const waiting = Promise.all(
        Object.entries(changes).map(async ([name, change]) => [name, await send(change)]),
      );
      await expect.poll(waitingChanges).toBe(Object.keys(changes).length);
      await end(apiKey.id);
      await unlock();
      expect(await first).toBe('changed');
      expect(Object.fromEntries(await waiting)).toEqual(
        Object.fromEntries(Object.keys(changes).map((name) => [name, code])),
      );
      expect(
        await gateway.database.prisma.auditRecord.count({ where: { locationId, apiKeyId: apiKey.id } }),
      ).toBe(1);
    },
  );
});

describe('reads that wait for a concurrency slot while their API key is revoked', () => {
  /** Creates the context of a request, and a function that revokes the API key of this request. */
  function newReader() {
    let isRevoked = false;
    const reader = {
      key: { id: newId() },
      reauthenticate: () => (isRevoked ? Promise.reject(keyInvalid) : Promise.resolve()),
      holdBytes: () => {},
    };
    return { reader, revoke: () => (isRevoked = true) };
  }

  test.each([{ isStreamed: true }, { isStreamed: false }])(
    'when an API key is revoked before its request can read a large value, the gateway does not read this value (streamed: $isStreamed)',
    async ({ isStreamed }) => {
      const { reader, revoke } = newReader();
      let reads = 0;
      let endRead = () => {};
      const slowRead = new Promise<void>((resolve) => (endRead = resolve));
      const isLargeRead = (values: readonly unknown[]) => !Array.isArray(values[0]);
      const query = async (_: unknown, values: readonly unknown[]) => {
        if (!isLargeRead(values)) return (values[0] as string[]).map((id) => ({ id, text: null }));
        reads += 1;
        await slowRead;
        return [{ text: '{}' }];
      };
      const read = createLargeValues({ query } as unknown as Sql, 'Company', 'settings', {
        isBounded: () => true,
        tooLarge: new Error('too large'),
      });
      const other = read(newReader().reader, 'other');
      await expect.poll(() => reads).toBe(1);
      const waiting = isStreamed
        ? read({ ...reader, defersLargeValues: true }, 'own').then((value) => (value as DeferredJson).read())
        : read(reader, 'own');
      revoke();
      endRead();
      await expect(waiting).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
      expect(await other).toEqual({});
      expect(reads).toBe(1);
    },
  );

  test('when an API key is revoked before the next part of a streamed list starts, the gateway ends the response without reading this part', async () => {
    const { reader, revoke } = newReader();
    const context = reader as unknown as Context;
    let endPart = () => {};
    const slowPart = new Promise<void>((resolve) => (endPart = resolve));
    let parts = 0;
    const next = async () => {
      parts += 1;
      await slowPart;
      return { items: [], next: undefined };
    };
    const errors: unknown[] = [];
    const textOf = () =>
      new Response(
        wholeListBody({ items: ['1'], next }, context, (error) => {
          errors.push(error);
          return false;
        }),
      )
        .text()
        .catch(() => 'broken off');
    const texts = Promise.all([textOf(), textOf()]);
    await expect.poll(() => parts).toBe(1);
    // The gateway reads the next part of one list. Meanwhile, another list for the same API key waits for a concurrency
    // slot.
    await yieldToEventLoop();
    revoke();
    endPart();
    expect(await texts).toEqual(['{"success":true,"data":[1]}', 'broken off']);
    expect(errors).toEqual([keyInvalid]);
    expect(parts).toBe(1);
  });
});

describe('subscriptions whose API key loses access', () => {
  test.each(ends.slice(0, 2))(
    'a subscription ends with UNAUTHORIZED when the secret of its API key becomes invalid (the key %s)',
    async (_, end) => {
      await endsWith(end, 'UNAUTHORIZED');
    },
  );
  test.each(ends.slice(2))(
    'a subscription ends with FORBIDDEN when its API key loses access to the location status (the key %s)',
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
