import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { openTestGateway } from '../support/harness.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const gateway = await openTestGateway({ DATABASE_POOL_SIZE: '4' });

interface Place {
  key: string;
  locationId: string;
}

const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7' };
const newEvent = () => ({ eventId: newId(), kind: 'ENTRY', plate, occurredAt: '2026-03-01T08:00:00Z' });

/**
 * Sends parking events of a location in one request. Returns the number of recorded parking events, or the error code.
 */
async function recordMany({ key, locationId }: Place, count: number) {
  const events = Array.from({ length: count }, newEvent);
  const { body } = await gateway.graph(
    `mutation ($locationId: ID!, $events: [ParkingEventInput!]!) {
      recordParkingEvents(locationId: $locationId, events: $events) { recorded } }`,
    { key, variables: { locationId, events } },
  );
  return body.errors?.[0].extensions.code ?? body.data.recordParkingEvents.recorded;
}

/** Requests a gate decision for a vehicle, in the same way as a gate. */
async function decide({ key, locationId }: Place) {
  const { body } = await gateway.graph(
    `query ($locationId: ID!, $plate: PlateInput!) { plateAccess(locationId: $locationId, plate: $plate) { reason } }`,
    { key, variables: { locationId, plate } },
  );
  expect(body).toEqual({ data: { plateAccess: { reason: 'NOT_LISTED' } } });
}

/** Requests a gate decision for a vehicle, and then records the entry of the vehicle, in the same way as a gate. */
async function letIn(place: Place) {
  await decide(place);
  const { body } = await gateway.graph(
    `mutation ($locationId: ID!, $input: ParkingEventInput!) {
      recordParkingEvent(locationId: $locationId, input: $input) { listed } }`,
    { key: place.key, variables: { locationId: place.locationId, input: newEvent() } },
  );
  expect(body).toEqual({ data: { recordParkingEvent: { listed: false } } });
}

test('a gate gets its decision while the gateway records a large batch of events at another location', async () => {
  const { companyId, ...busy } = await gateway.newTenant();
  const sibling = { key: busy.key, locationId: await gateway.newLocation(companyId) };
  const other = await gateway.newTenant();
  for (const place of [sibling, other]) {
    await letIn(place);
    const batch = recordMany(busy, 1_000);
    const first = await Promise.race([batch, decide(place).then(() => 'decision')]);
    expect(first).toBe('decision');
    await letIn(place);
    expect(await batch).toBe(1_000);
  }
});

describe.runIf(testServerUrl)('a batch of parking events for a location with a locked row', () => {
  async function connect() {
    const client = new pg.Client({ connectionString: gateway.config.databaseUrl });
    onTestFinished(() => client.end());
    await client.connect();
    return client;
  }

  /** Locks the rows of locations, as a batch of parking events does, and returns a function that releases the locks. */
  async function lock(...locationIds: string[]) {
    const client = await connect();
    await client.query('BEGIN');
    await client.query('SELECT FROM "Location" WHERE id = ANY($1) FOR NO KEY UPDATE', [locationIds]);
    return () => client.query('COMMIT');
  }

  /** Returns the number of database connections that wait for a lock. */
  async function waitingConnections(client: pg.Client) {
    const { rows } = await client.query(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0].count as number;
  }

  test('a batch of parking events that waits for a locked location does not delay requests for other locations or requests with other API keys', async () => {
    const { companyId, ...tenant } = await gateway.newTenant();
    const other = await gateway.newTenant();
    const locationIds = [
      tenant.locationId,
      ...(await Promise.all([1, 2, 3].map(() => gateway.newLocation(companyId)))),
    ];
    const free = { key: tenant.key, locationId: await gateway.newLocation(companyId) };
    const unlock = await lock(...locationIds);
    const batches = Promise.all(
      [...locationIds, ...locationIds].map((locationId) => recordMany({ ...tenant, locationId }, 300)),
    );
    const observer = await connect();
    await expect.poll(() => waitingConnections(observer)).toBe(1);
    for (const place of [other, free]) await letIn(place);
    expect(await recordMany(other, 300)).toBe(300);
    expect(await waitingConnections(observer)).toBe(1);
    await unlock();
    expect(await batches).toEqual(Array.from({ length: 8 }, () => 300));
  });

  test('while a batch of parking events for a location waits until another batch ends, a gate can record a single parking event at this location', async () => {
    const { companyId, ...tenant } = await gateway.newTenant();
    const free = { key: tenant.key, locationId: await gateway.newLocation(companyId) };
    const unlock = await lock(tenant.locationId);
    const stuck = recordMany(tenant, 300);
    const observer = await connect();
    await expect.poll(() => waitingConnections(observer)).toBe(1);
    const queued = recordMany(free, 300);
    await letIn(free);
    expect(await waitingConnections(observer)).toBe(1);
    await unlock();
    expect(await Promise.all([stuck, queued])).toEqual([300, 300]);
  });

  test('while batches of two API keys wait for the same locked location, another company can record a batch of parking events', async () => {
    const { companyId, ...tenant } = await gateway.newTenant();
    const colleague = { ...tenant, key: await gateway.newKey({ companyIds: [companyId] }) };
    const other = await gateway.newTenant();
    const unlock = await lock(tenant.locationId);
    const batches = Promise.all([recordMany(tenant, 300), recordMany(colleague, 300)]);
    const observer = await connect();
    await expect.poll(() => waitingConnections(observer)).toBe(1);
    expect(await recordMany(other, 300)).toBe(300);
    expect(await waitingConnections(observer)).toBe(1);
    await unlock();
    expect(await batches).toEqual([300, 300]);
  });
});
