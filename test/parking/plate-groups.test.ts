import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deriveSessions, sessionState } from '../../src/parking/derive-sessions.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

/**
 * The plates of the generated parking events. Many of the plates end with the same characters, so the text of one
 * camera reading can match several plates. Each plate is given either by its plate type, plate code and plate number,
 * or by the text that a camera read. Some of the camera texts do not contain the plate type.
 */
const plates = [
  ...['A/1', 'A/8', 'A/17', 'A/18', 'A/117', 'B/117', 'A/8117'].map((plate) => {
    const [plateCode = '', plateNumber = ''] = plate.split('/');
    return { plate: { plateType: 'DXB', plateCode, plateNumber } };
  }),
  { plate: { plateType: 'SHJ', plateCode: 'A', plateNumber: '17' } },
  ...['A1', 'DXB A 1', 'A I7', '17', 'DXB A 17', 'B117', 'DXB 8117', 'DXB B 8 117'].map((text) => ({
    reading: { text },
  })),
];

/**
 * A plate on the whitelist. The array `readings` contains the whitelisted plate, a similar plate, and camera texts that
 * match or resemble the whitelisted plate. For some camera readings, only an alternative text of the camera matches the
 * plate on the whitelist.
 */
const listedPlate = { plateType: 'DXB', plateCode: 'A', plateNumber: '12345' };
const readings = [
  { reading: { text: 'DXB A 12845', alternatives: ['DXB A 12345'] } },
  { reading: { text: 'a-12-8.45', alternatives: ['A12345'] } },
  { reading: { text: 'DXBA12345' } },
  { reading: { text: 'DXBA12845' } },
  { reading: { text: 'A12845' } },
  { reading: { text: 'DXBA12B4S' } },
  { plate: listedPlate },
  { plate: { ...listedPlate, plateNumber: '12845' } },
];

const start = Date.parse('2026-03-01T08:00:00Z');
const minute = (minutes: number) => new Date(start + minutes * 60_000).toISOString();

/** Generates parking events. An event with the same `eventId` as an earlier event corrects the earlier event. */
const eventsWith = (seen: readonly object[]) =>
  fc.array(
    fc.record({
      eventId: fc.integer({ min: 1, max: 12 }).map((number) => `event-${number}`),
      kind: fc.constantFrom('ENTRY', 'EXIT'),
      seen: fc.constantFrom(...seen),
      occurredAt: fc.integer({ min: 0, max: 20 }).map(minute),
    }),
    { minLength: 3, maxLength: 14 },
  );

async function newCarPark() {
  const { key, companyId, locationId } = await gateway.newTenant();
  const addEntry = async (location: string) => {
    const body = newEntry(listedPlate);
    expect(await gateway.rest('POST', `/locations/${location}/whitelist`, { key, body })).toMatchObject({
      status: 201,
    });
  };
  await addEntry(locationId);
  return {
    locationId,
    newLocation: () => gateway.newLocation(companyId),
    addEntry,
    async record(location: string, batch: object[]) {
      const answer = await gateway.graph(
        `mutation ($locationId: ID!, $events: [ParkingEventInput!]!) {
          recordParkingEvents(locationId: $locationId, events: $events) { total rows { error { message } } } }`,
        { key, variables: { locationId: location, events: batch } },
      );
      expect(answer.body).toMatchObject({
        data: { recordParkingEvents: { total: batch.length, rows: [] } },
      });
    },
    async statusOf(location: string) {
      const { body } = await gateway.rest('GET', `/locations/${location}/status`, { key });
      return body.data;
    },
  };
}

/**
 * Returns the stored parking sessions of a location, and the sessions that the function `deriveSessions` calculates
 * from all recorded parking events of the location.
 */
async function storedAndDerived(locationId: string) {
  const observations = await prisma.parkingEvent.findMany({ where: { locationId } });
  const stored = await prisma.parkingSession.findMany({ where: { locationId }, orderBy: { id: 'asc' } });
  const derived = deriveSessions({
    locationId,
    begun: [],
    texts: new Map(),
    observations,
    longestStayMs: null,
    now: new Date(),
  });
  return { stored, derived: derived.toSorted((one, other) => (one.id < other.id ? -1 : 1)) };
}

test.each([
  ['plates that end with the same characters', plates, { listed: false }],
  ['camera readings that match or resemble a plate on the whitelist', readings, { listed: true }],
])(
  'the stored parking sessions do not depend on how many parking events each request contains (the events contain %s)',
  async (_, seen, { listed }) => {
    const { newLocation, addEntry, record } = await newCarPark();
    await fc.assert(
      fc.asyncProperty(eventsWith(seen), fc.integer({ min: 1, max: 5 }), async (events, size) => {
        const locationId = await newLocation();
        if (listed) await addEntry(locationId);
        const sent = events.map(({ seen: plateOrReading, ...event }) => ({ ...event, ...plateOrReading }));
        for (let first = 0; first < sent.length; first += size) {
          await record(locationId, sent.slice(first, first + size));
        }
        const { stored, derived } = await storedAndDerived(locationId);
        expect(stored).toEqual(derived);
      }),
      { numRuns: 60 },
    );
  },
);

const misread = { text: 'DXBA12845' };
const entry = {
  eventId: 'entry',
  kind: 'ENTRY',
  reading: { ...misread, alternatives: ['DXBA12345'] },
  occurredAt: minute(0),
};
const exit = { eventId: 'exit', kind: 'EXIT', reading: misread, occurredAt: minute(60) };

test.each([
  ['entry before the exit', [entry, exit]],
  ['exit before the entry', [exit, entry]],
])(
  'an exit event ends the parking session of the entry event with the same camera text, even if the whitelist contains only an alternative text of the entry event (the gate sends the %s)',
  async (_, events) => {
    const { locationId, record, statusOf } = await newCarPark();
    for (const event of events) await record(locationId, [event]);
    expect(await prisma.parkingEvent.count({ where: { locationId, plateCode: '' } })).toBe(1);
    const sessions = await prisma.parkingSession.findMany({ where: { locationId } });
    expect(sessions.map(sessionState)).toEqual(['COMPLETED']);
    expect(await statusOf(locationId)).toMatchObject({ occupied: 0 });
  },
);

test('when a correction replaces the camera text of an entry event with a plate, an exit event with the original camera text no longer ends the parking session', async () => {
  const { locationId, record, statusOf } = await newCarPark();
  await record(locationId, [entry, exit]);
  const { reading: _, ...corrected } = { ...entry, plate: listedPlate };
  await record(locationId, [corrected]);
  const { stored, derived } = await storedAndDerived(locationId);
  expect(stored).toEqual(derived);
  expect(stored.map(sessionState).toSorted()).toEqual(['MISSED_ENTRY', 'OPEN']);
  expect(await statusOf(locationId)).toMatchObject({ occupied: 1 });
});
