import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { everyPermission, newEntry, sharedTestGateway } from '../support/harness.ts';
import { letChangesWait } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';
import { statementsOf } from '../support/statements.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

const start = Date.parse('2026-03-01T08:00:00.000Z');
const plateOf = (number: number) => ({ plateType: 'DXB', plateCode: 'A', plateNumber: String(number) });

/**
 * Creates a parking event in the form in which a gate sends it. The time of the event is `minute` minutes after 08:00
 * UTC on 1 March 2026.
 */
const reading = (eventId: string, kind: string, plate: number, minute: number) => ({
  eventId,
  kind,
  plate: plateOf(plate),
  occurredAt: new Date(start + minute * 60_000).toISOString(),
});
type Reading = ReturnType<typeof reading>;

/** Records a list of parking events, and returns the result, or the `extensions` of the GraphQL error. */
async function recordMany(key: string, locationId: string, events: unknown[]) {
  const { body } = await gateway.graph(
    `mutation ($locationId: ID!, $events: [ParkingEventInput!]!) { recordParkingEvents(locationId: $locationId, events: $events) {
      total recorded unchanged corrected rejected rows { index error { code message field value } } } }`,
    { key, variables: { locationId, events } },
  );
  return body.errors?.[0].extensions ?? body.data.recordParkingEvents;
}

async function recordOne(key: string, locationId: string, input: Reading) {
  const { body } = await gateway.graph(
    `mutation ($locationId: ID!, $input: ParkingEventInput!) { recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
    { key, variables: { locationId, input } },
  );
  expect(body.errors).toBeUndefined();
}

/**
 * Returns the parking sessions and parking events of a location as sorted texts, without the ids of the database rows.
 */
async function stateOf(locationId: string) {
  const [sessions, events] = await Promise.all([
    prisma.parkingSession.findMany({ where: { locationId } }),
    prisma.parkingEvent.findMany({ where: { locationId } }),
  ]);
  const told = [
    ...sessions.map(({ id, plateNumber, enteredAt, exitedAt, open, listed }) => [
      'session',
      events.find((event) => event.id === id)?.eventId,
      plateNumber,
      enteredAt,
      exitedAt,
      open,
      listed,
    ]),
    ...events.map(({ eventId, kind, plateNumber, occurredAt, listed }) => [
      'event',
      eventId,
      kind,
      plateNumber,
      occurredAt,
      listed,
    ]),
  ];
  return told.map((row) => JSON.stringify(row)).toSorted();
}

const actionsAt = async (locationId: string) =>
  (await prisma.auditRecord.findMany({ where: { locationId }, orderBy: { id: 'asc' } })).map(
    ({ action }) => action,
  );

describe('the mutation recordParkingEvents', () => {
  test('the response of recordParkingEvents contains the outcome of each event, and the reason for each rejected event', async () => {
    const { key, locationId } = await gateway.newTenant();
    const first = reading('1', 'ENTRY', 7, 0);
    expect(await recordMany(key, locationId, [first])).toMatchObject({ total: 1, recorded: 1, rows: [] });
    const result = await recordMany(key, locationId, [
      first,
      { ...reading('2', 'ENTRY', 8, 0), eventId: ' ' },
      reading('3', 'ENTRY', 8, 0),
      { ...first, kind: 'EXIT' },
      reading('3', 'ENTRY', 8, 0),
      { ...reading('4', 'EXIT', 8, 1), plate: { ...plateOf(8), plateNumber: 'x' } },
    ]);
    expect(result).toEqual({
      total: 6,
      recorded: 1,
      unchanged: 2,
      corrected: 1,
      rejected: 2,
      rows: [
        {
          index: 1,
          error: {
            code: 'VALIDATION_ERROR',
            message: 'Event id must not be blank',
            field: 'eventId',
            value: ' ',
          },
        },
        {
          index: 5,
          error: expect.objectContaining({ code: 'VALIDATION_ERROR', field: 'plateNumber', value: 'x' }),
        },
      ],
    });
    expect(await actionsAt(locationId)).toEqual(['parking.entered', 'parking.entered', 'parking.exited']);
  });

  test('when a batch of parking events makes a location full, the audit log gets a record for each event and one record about the full location', async () => {
    const { key, companyId } = await gateway.newTenant();
    const locationId = await gateway.newLocation(companyId, { capacity: 2 });
    const events = [1, 2, 3].map((plate) => reading(`in ${plate}`, 'ENTRY', plate, plate));
    await recordMany(key, locationId, events);
    await recordMany(key, locationId, events);
    expect((await actionsAt(locationId)).toSorted()).toEqual([
      'location.full',
      'parking.entered',
      'parking.entered',
      'parking.entered',
    ]);
    const { body } = await gateway.rest('GET', `/locations/${locationId}/status`, { key });
    expect(body.data).toMatchObject({ occupied: 3, state: 'FULL' });
  });

  test('parking events in batches have the same result as parking events in single requests, even with duplicates and corrections', async () => {
    const { key, companyId } = await gateway.newTenant();
    const event = fc
      .record({
        eventId: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
        kind: fc.constantFrom('ENTRY', 'EXIT'),
        plate: fc.integer({ min: 1, max: 2 }),
        minute: fc.integer({ min: 0, max: 4 }),
      })
      .map(({ eventId, kind, plate, minute }) => reading(eventId, kind, plate, minute));
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 1, maxLength: 8 }),
        fc.array(event, { minLength: 1, maxLength: 8 }),
        async (...requests) => {
          const [single, batched] = [
            await gateway.newLocation(companyId),
            await gateway.newLocation(companyId),
          ];
          await Promise.all(
            [single, batched].map((id) =>
              gateway.rest('POST', `/locations/${id}/whitelist`, { key, body: newEntry(plateOf(1)) }),
            ),
          );
          for (const input of requests.flat()) await recordOne(key, single, input);
          for (const events of requests) await recordMany(key, batched, events);
          expect(await stateOf(batched)).toEqual(await stateOf(single));
          expect((await actionsAt(batched)).filter((action) => action.startsWith('parking'))).toEqual(
            (await actionsAt(single)).filter((action) => action.startsWith('parking')),
          );
        },
      ),
      { numRuns: 20 },
    );
  });

  test('recording a batch of parking events takes fewer than 20 SQL statements, even for the maximum number of events in one transaction', async () => {
    const { key, locationId } = await gateway.newTenant();
    // The batch has the maximum number of events that one transaction records: 25 on an embedded database, 200 on
    // PostgreSQL.
    const length = gateway.database.kind === 'embedded' ? 25 : 200;
    const events = Array.from({ length }, (_, index) => reading(`${index}`, 'ENTRY', index, index));
    const statements = await statementsOf(() => recordMany(key, locationId, events));
    expect(statements.length).toBeLessThan(20);
  });

  test('a batch may contain 1 to 1,000 parking events, and costs one rate limit point per 100 events (rounded up)', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const key = await gateway.newKey({ companyIds: [companyId], hourlyLimit: 10 });
    for (const count of [0, 1_001]) {
      const events = Array.from({ length: count }, () => reading('1', 'ENTRY', 1, 0));
      const { key: other } = await gateway.newTenant();
      expect(await recordMany(other, locationId, events)).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'events' },
      });
    }
    const events = Array.from({ length: 901 }, () => reading('1', 'ENTRY', 1, 0));
    expect(await recordMany(key, locationId, events)).toMatchObject({ recorded: 1, unchanged: 900 });
    expect(await recordMany(key, locationId, events.slice(0, 1))).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
    });
  });

  test("recordParkingEvents rejects an API key without the permission WRITE_ACTIVITY, and a location outside the API key's scope", async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const permissions = everyPermission.filter((permission) => permission !== 'WRITE_ACTIVITY');
    const without = await gateway.newKey({ companyIds: [companyId], permissions });
    const events = [reading('1', 'ENTRY', 1, 0)];
    expect(await recordMany(without, locationId, events)).toMatchObject({ code: 'FORBIDDEN' });
    const { key } = await gateway.newTenant();
    for (const id of [locationId, newId(), 'x']) {
      expect(await recordMany(key, id, events)).toMatchObject({
        code: 'NOT_FOUND',
        details: { field: 'locationId', value: id },
      });
    }
    expect(await actionsAt(locationId)).toEqual([]);
  });

  describe.runIf(testServerUrl)('concurrent batches of parking events on PostgreSQL', () => {
    test('5 concurrent batches of parking events in random order, with duplicates, have the same result as one request for each event', async () => {
      const { key, companyId, locationId: single } = await gateway.newTenant();
      const batched = await gateway.newLocation(companyId);
      const distinct = Array.from({ length: 1_250 }, (_, index) =>
        reading(`${index}`, index % 3 === 2 ? 'EXIT' : 'ENTRY', index % 90, (index * 7_919) % 1_000),
      );
      const all = [...distinct, ...distinct, ...distinct, ...distinct]
        .map((event, index) => ({ event, place: (index * 104_729) % 5_003 }))
        .sort((one, other) => one.place - other.place)
        .map(({ event }) => event);
      const requests = Array.from({ length: 5 }, (_, index) => all.slice(index * 1_000, (index + 1) * 1_000));
      const results = await Promise.all(requests.map((events) => recordMany(key, batched, events)));
      const sum = (name: string) => results.reduce((total, result) => total + result[name], 0);
      expect([sum('recorded'), sum('unchanged'), sum('corrected'), sum('rejected')]).toEqual([
        1_250, 3_750, 0, 0,
      ]);
      letChangesWait();
      for (let index = 0; index < distinct.length; index += 50) {
        await Promise.all(distinct.slice(index, index + 50).map((event) => recordOne(key, single, event)));
      }
      expect(await stateOf(batched)).toEqual(await stateOf(single));
    });
  });
});
