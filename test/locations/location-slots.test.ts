import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { slotLimits } from '../../src/scheduling/limits.ts';
import { rowsPerStatement } from '../../src/whitelist/import/rows.ts';
import { newEntry, openTestGateway } from '../support/harness.ts';
import { letChangesWait, locksOf, setMaxWaitMs } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const maxWaitingPerLocation = slotLimits.locationChanges.waiting.perOwner;

describe.runIf(testServerUrl)('a location that another database connection has locked', async () => {
  const gateway = await openTestGateway({ DATABASE_POOL_SIZE: '4' });
  const { lock, waitingConnections } = locksOf(gateway);

  const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7' };
  const recordEvent = async ({ key, locationId }: { key: string; locationId: string }) => {
    const { body } = await gateway.graph(
      `mutation ($locationId: ID!, $input: ParkingEventInput!) {
        recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
      {
        key,
        variables: {
          locationId,
          input: { eventId: newId(), kind: 'ENTRY', plate, occurredAt: '2026-03-01T08:00:00Z' },
        },
      },
    );
    return body.errors?.[0].extensions.code ?? 'recorded';
  };
  const importRows = async (
    { key, locationId }: { key: string; locationId: string },
    mode: 'CREATE' | 'REPLACE',
    entries: readonly unknown[],
  ) => {
    const { body } = await gateway.graph(
      `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!, $mode: ImportMode!) {
        importWhitelistEntries(locationId: $locationId, entries: $entries, mode: $mode) { created } }`,
      { key, variables: { locationId, entries, mode } },
    );
    return body.errors?.[0].extensions.code ?? body.data.importWhitelistEntries.created;
  };
  const replace = (tenant: { key: string; locationId: string }) =>
    importRows(tenant, 'REPLACE', [newEntry()]);
  const decide = async ({ key, locationId }: { key: string; locationId: string }) => {
    const { body } = await gateway.graph(
      `query ($locationId: ID!, $plate: PlateInput!) {
        plateAccess(locationId: $locationId, plate: $plate) { reason } }`,
      { key, variables: { locationId, plate } },
    );
    return body.errors?.[0].extensions.code ?? body.data.plateAccess.reason;
  };

  test('parking events that wait for a locked location use only one database connection, and do not block requests of another company', async () => {
    letChangesWait();
    const tenant = await gateway.newTenant();
    const other = await gateway.newTenant();
    const unlock = await lock([tenant.locationId]);
    const events = Promise.all(Array.from({ length: 40 }, () => recordEvent(tenant)));
    await expect.poll(waitingConnections).toBe(1);
    expect(await Promise.all(Array.from({ length: 10 }, () => decide(other)))).toEqual(
      Array.from({ length: 10 }, () => 'NOT_LISTED'),
    );
    expect(await recordEvent(other)).toBe('recorded');
    expect(await replace(other)).toBe(1);
    expect(await decide(tenant)).toBe('NOT_LISTED');
    expect(await waitingConnections()).toBe(1);
    await unlock();
    expect(new Set(await events)).toEqual(new Set(['recorded']));
  });

  test('when one API key imports into many locked locations, the imports use only one database connection', async () => {
    const tenant = await gateway.newTenant();
    const other = await gateway.newTenant();
    const locationIds = await Promise.all(
      Array.from({ length: 15 }, () => gateway.newLocation(tenant.companyId)),
    );
    const unlock = await lock(locationIds);
    const imports = Promise.all(locationIds.map((locationId) => replace({ ...tenant, locationId })));
    await expect.poll(waitingConnections).toBe(1);
    expect(await replace(other)).toBe(1);
    expect(await decide(other)).toBe('NOT_LISTED');
    expect(await waitingConnections()).toBe(1);
    await unlock();
    expect(await imports).toEqual(locationIds.map(() => 1));
  });

  test('each of 60 concurrent imports of one API key succeeds or gets RATE_LIMIT_EXCEEDED, and all imports of another API key succeed', async () => {
    const tenant = await gateway.newTenant();
    const other = await gateway.newTenant();
    const [results, others] = await Promise.all([
      Promise.all(Array.from({ length: 60 }, () => replace(tenant))),
      Promise.all(Array.from({ length: 5 }, () => replace(other))),
    ]);
    expect(others).toEqual([1, 1, 1, 1, 1]);
    expect(new Set(results)).toEqual(new Set([1, 'RATE_LIMIT_EXCEEDED']));
  });

  test('REST and GraphQL refuse a change of a location when too many changes of the location wait', async () => {
    letChangesWait();
    const tenant = await gateway.newTenant();
    const { locationId, companyId, key } = tenant;
    // The gateway limits the concurrent requests of one API key, so the test uses several API keys.
    const keys = await Promise.all(
      Array.from({ length: 4 }, () => gateway.newKey({ companyIds: [companyId] })),
    );
    const unlock = await lock([locationId]);
    const tooMany = 10;
    const outcomes: string[] = [];
    const events = Promise.all(
      Array.from({ length: 1 + maxWaitingPerLocation + tooMany }, async (_, index) =>
        outcomes.push(await recordEvent({ locationId, key: keys[index % keys.length]! })),
      ),
    );
    await expect.poll(() => outcomes.length).toBe(tooMany);
    expect(new Set(outcomes)).toEqual(new Set(['RATE_LIMIT_EXCEEDED']));
    const change = { key, body: { capacity: 20 } };
    const { status, headers, body } = await gateway.rest('PUT', `/locations/${locationId}`, change);
    expect([status, body.error.code, headers.get('Retry-After')]).toEqual([429, 'RATE_LIMIT_EXCEEDED', '1']);
    const metrics = await (await gateway.metrics.app.request('/metrics')).text();
    expect(metrics).toContain('{surface="rest",reason="too_much_at_once"} 1\n');
    expect(metrics).toMatch(/\{surface="graphql",reason="too_much_at_once"\} [1-9]/);
    await unlock();
    await events;
    expect(outcomes.filter((outcome) => outcome === 'recorded')).toHaveLength(1 + maxWaitingPerLocation);
  });

  test('the gateway refuses changes that wait too long for earlier changes of a locked location, and sends no SQL statement for the refused changes', async () => {
    const tenant = await gateway.newTenant();
    const { key, locationId, companyId } = tenant;
    const otherKey = await gateway.newKey({ companyIds: [companyId] });
    const unlock = await lock([locationId]);
    const first = recordEvent(tenant);
    await expect.poll(waitingConnections).toBe(1);
    setMaxWaitMs(50);
    const changes = [recordEvent(tenant), recordEvent(tenant), replace(tenant)];
    changes.push(importRows({ ...tenant, key: otherKey }, 'CREATE', [newEntry()]));
    expect(new Set(await Promise.all(changes))).toEqual(new Set(['RATE_LIMIT_EXCEEDED']));
    const change = { key, body: { capacity: 20 } };
    const { status, headers, body } = await gateway.rest('PUT', `/locations/${locationId}`, change);
    expect([status, body.error.code, headers.get('Retry-After')]).toEqual([429, 'RATE_LIMIT_EXCEEDED', '1']);
    // One connection waits for a lock in PostgreSQL: the connection of the first parking event. The gateway refused the
    // other changes without an SQL statement.
    expect(await waitingConnections()).toBe(1);
    await unlock();
    expect(await first).toBe('recorded');
    expect(await gateway.database.prisma.parkingEvent.count({ where: { locationId } })).toBe(1);
  });

  test('an import continues after its first batch of rows, even when the second batch waits longer than the maximum waiting time', async () => {
    const { key, locationId } = await gateway.newTenant();
    const rows = Array.from({ length: rowsPerStatement.postgresql + 1 }, (_, index) =>
      newEntry({ plateNumber: String(index) }),
    );
    const waitingChanges = letChangesWait();
    const unlock = await lock([locationId]);
    const imported = importRows({ key, locationId }, 'CREATE', rows);
    await expect.poll(waitingConnections).toBe(1);
    const event = recordEvent({ key, locationId });
    await expect.poll(waitingChanges).toBe(1);
    // The gateway records the parking event between the first and the second batch of imported rows. The second batch
    // of imported rows must wait for the parking event. The second batch of imported rows waits longer than the maximum
    // waiting time, which the test reduces to 1 ms.
    setMaxWaitMs(1);
    await unlock();
    expect(await imported).toBe(rows.length);
    expect(await event).toBe('recorded');
  });

  test('an API key cannot delay changes of a location outside its scope', async () => {
    const tenant = await gateway.newTenant();
    const outsider = await gateway.newTenant();
    const unlock = await lock([tenant.locationId]);
    const event = recordEvent(tenant);
    await expect.poll(waitingConnections).toBe(1);
    const { locationId } = tenant;
    expect(await recordEvent({ ...outsider, locationId })).toBe('NOT_FOUND');
    expect(await replace({ ...outsider, locationId })).toBe('NOT_FOUND');
    await unlock();
    expect(await event).toBe('recorded');
  });
});
