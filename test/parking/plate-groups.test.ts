import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deriveSessions } from '../../src/parking/derive-sessions.ts';
import { openTestGateway } from '../support/harness.ts';

const gateway = await openTestGateway();
const { prisma } = gateway.database;

/**
 * Plates that end in the same characters. Some plates are short, some have no type, and some are one text instead of
 * separate parts.
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

const start = Date.parse('2026-03-01T08:00:00Z');
const events = fc
  .array(
    fc.record({
      kind: fc.constantFrom('ENTRY', 'EXIT'),
      seen: fc.constantFrom(...plates),
      minute: fc.integer({ min: 0, max: 20 }),
    }),
    { minLength: 3, maxLength: 14 },
  )
  .map((readings) =>
    readings.map(({ kind, seen, minute }, index) => ({
      eventId: `event-${index}`,
      kind,
      ...seen,
      occurredAt: new Date(start + minute * 60_000).toISOString(),
    })),
  );

test('parking events lead to the same parking sessions, whether they arrive in one request or in several requests', async () => {
  const { key, companyId } = await gateway.newTenant();
  const record = async (locationId: string, batch: object[]) => {
    const answer = await gateway.graph(
      `mutation ($locationId: ID!, $events: [ParkingEventInput!]!) {
        recordParkingEvents(locationId: $locationId, events: $events) { recorded rows { error { message } } } }`,
      { key, variables: { locationId, events: batch } },
    );
    expect(answer.body).toMatchObject({
      data: { recordParkingEvents: { recorded: batch.length, rows: [] } },
    });
  };
  await fc.assert(
    fc.asyncProperty(events, fc.integer({ min: 1, max: 5 }), async (seen, size) => {
      const locationId = await gateway.newLocation(companyId);
      for (let first = 0; first < seen.length; first += size) {
        await record(locationId, seen.slice(first, first + size));
      }
      const recorded = await prisma.parkingEvent.findMany({ where: { locationId } });
      expect(recorded).toHaveLength(seen.length);
      const stored = await prisma.parkingSession.findMany({ where: { locationId }, orderBy: { id: 'asc' } });
      const derived = deriveSessions({
        locationId,
        begun: [],
        texts: new Map(),
        observations: recorded,
        longestStayMs: null,
        now: new Date(),
      });
      expect(stored).toEqual(derived.toSorted((one, other) => (one.id < other.id ? -1 : 1)));
    }),
    { numRuns: 60 },
  );
});
