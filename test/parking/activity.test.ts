import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { everyPermission, newEntry, sharedTestGateway } from '../support/harness.ts';
import { letChangesWait } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';
import { statementsOfRequest } from '../support/statements.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

const start = Date.parse('2026-03-01T08:00:00.000Z');
/** Returns the time that is the given number of minutes after 08:00 UTC on 1 March 2026. */
const minute = (minutes: number) => new Date(start + minutes * 60_000).toISOString();

const plates = ['7', '8', '9'].map((plateNumber) => ({ plateType: 'DXB', plateCode: 'A', plateNumber }));
const [plate, otherPlate] = plates as [(typeof plates)[0], (typeof plates)[0]];

interface Reading {
  eventId?: string;
  kind?: 'ENTRY' | 'EXIT';
  plate?: typeof plate;
  occurredAt?: string;
  decision?: string;
  entryId?: string;
}

const recorded = `id eventId kind plateNumber occurredAt decision listed createdAt updatedAt entry { id }`;

/**
 * Records a parking event. Returns the recorded parking event, or the `extensions` of the GraphQL error if the gateway
 * refuses the event.
 */
async function record(key: string, locationId: string, reading: Reading) {
  const { body } = await gateway.graph(
    `mutation ($locationId: ID!, $input: ParkingEventInput!) {
      recordParkingEvent(locationId: $locationId, input: $input) { ${recorded} } }`,
    {
      key,
      variables: {
        locationId,
        input: { eventId: newId(), kind: 'ENTRY', plate, occurredAt: minute(0), ...reading },
      },
    },
  );
  return body.errors?.[0].extensions ?? body.data.recordParkingEvent;
}

/** Records parking events with one request. */
async function recordTogether(key: string, locationId: string, events: readonly Reading[]) {
  const { body } = await gateway.graph(
    `mutation ($locationId: ID!, $events: [ParkingEventInput!]!) {
      recordParkingEvents(locationId: $locationId, events: $events) { total rows { error { message } } } }`,
    { key, variables: { locationId, events } },
  );
  expect(body).toEqual({ data: { recordParkingEvents: { total: events.length, rows: [] } } });
}

/** Returns the parking sessions of a location without their identifiers, and sorts the sessions by their start. */
async function sessionsOf(key: string, locationId: string, open?: boolean) {
  const { body } = await gateway.graph(
    `query ($id: ID!, $open: Boolean) { location(id: $id) { sessions(open: $open, first: 100) {
      totalCount nodes { enteredAt exitedAt state open plateNumber listed entry { id } } } } }`,
    { key, variables: { id: locationId, open } },
  );
  const { nodes, totalCount } = body.data.location.sessions;
  expect(totalCount).toBe(nodes.length);
  // The API returns parking sessions in the order in which their events arrived, but the tests expect the sessions in
  // the order of their times.
  const said = (session: { enteredAt: string | null; exitedAt: string | null }) =>
    (session.enteredAt ?? session.exitedAt) + JSON.stringify(session);
  return nodes.sort((one: Parameters<typeof said>[0], other: typeof one) =>
    said(one) < said(other) ? -1 : 1,
  );
}

async function statusOf(key: string, locationId: string) {
  const { body } = await gateway.rest('GET', `/locations/${locationId}/status`, { key });
  return body.data;
}

const actionsAt = async (locationId: string) =>
  (await prisma.auditRecord.findMany({ where: { locationId }, orderBy: { id: 'asc' } })).map(
    ({ action }) => action,
  );

describe('parking events', () => {
  test("a parking event is recorded with the whitelist entry of its plate and with the gate's decision", async () => {
    const { key, locationId } = await gateway.newTenant();
    const created = await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry(plate),
    });
    const event = await record(key, locationId, { eventId: 'gate-1/17', decision: 'LISTED' });
    expect(event).toMatchObject({
      eventId: 'gate-1/17',
      kind: 'ENTRY',
      plateNumber: '7',
      occurredAt: minute(0),
      decision: 'LISTED',
      listed: true,
      entry: { id: created.body.data.id },
    });
    expect(await record(key, locationId, { plate: otherPlate })).toMatchObject({
      decision: null,
      listed: false,
      entry: null,
    });
    const { body } = await gateway.graph(
      'query ($id: ID!) { location(id: $id) { events { totalCount nodes { plateNumber location { id } } } } }',
      { key, variables: { id: locationId } },
    );
    expect(body.data.location.events).toEqual({
      totalCount: 2,
      nodes: [
        { plateNumber: '8', location: { id: locationId } },
        { plateNumber: '7', location: { id: locationId } },
      ],
    });
  });

  test('a parking event is linked to the whitelist entry whose id the gate sends, but never to a whitelist entry of another location', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const elsewhere = await gateway.newLocation(companyId);
    const [own, foreign] = await Promise.all(
      [locationId, elsewhere].map(async (id) => {
        const { body } = await gateway.rest('POST', `/locations/${id}/whitelist`, {
          key,
          body: newEntry(otherPlate),
        });
        return body.data.id as string;
      }),
    );
    expect(await record(key, locationId, { entryId: own! })).toMatchObject({
      listed: true,
      entry: { id: own },
    });
    expect(await record(key, locationId, { entryId: foreign! })).toMatchObject({
      listed: false,
      entry: null,
    });
  });

  test('a parking event is stored with listed: false when its whitelist entry is not valid at the time of the event', async () => {
    const { key, locationId } = await gateway.newTenant();
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry({ ...plate, validUntil: minute(10) }),
    });
    expect(await record(key, locationId, { occurredAt: minute(9) })).toMatchObject({ listed: true });
    expect(await record(key, locationId, { occurredAt: minute(10) })).toMatchObject({ listed: false });
  });

  test('when a gate sends a parking event twice, the gateway records the event only once', async () => {
    const { key, locationId } = await gateway.newTenant();
    const first = await record(key, locationId, { eventId: 'same' });
    expect(await record(key, locationId, { eventId: 'same' })).toEqual(first);
    expect(await actionsAt(locationId)).toEqual(['parking.entered']);
    expect(await sessionsOf(key, locationId)).toHaveLength(1);
  });

  test('a parking event with the identifier of an earlier event corrects that event', async () => {
    const { key, locationId } = await gateway.newTenant();
    const first = await record(key, locationId, { eventId: 'same' });
    const corrected = await record(key, locationId, {
      eventId: 'same',
      plate: otherPlate,
      occurredAt: minute(1),
    });
    expect(corrected).toMatchObject({ id: first.id, createdAt: first.createdAt, plateNumber: '8' });
    expect(await sessionsOf(key, locationId)).toMatchObject([
      { state: 'OPEN', plateNumber: '8', enteredAt: minute(1) },
    ]);
    const audit = await prisma.auditRecord.findMany({ where: { locationId }, orderBy: { id: 'desc' } });
    expect(audit[0]).toMatchObject({
      action: 'parking.entered',
      changes: { before: { plateNumber: '7' }, after: { plateNumber: '8' } },
    });
  });

  test('two parking events at different locations may have the same event identifier', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const elsewhere = await gateway.newLocation(companyId);
    const one = await record(key, locationId, { eventId: 'same' });
    const other = await record(key, elsewhere, { eventId: 'same' });
    expect(other.id).not.toBe(one.id);
  });

  test.each([
    ['a blank identifier', { eventId: ' ' }, 'eventId'],
    ['an identifier of 101 characters', { eventId: 'x'.repeat(101) }, 'eventId'],
    ['an identifier with a control character', { eventId: 'a\u0000b' }, 'eventId'],
    ['an invalid plate', { plate: { ...plate, plateNumber: '7A' } }, 'plate.plateNumber'],
    [
      'a time two days ahead',
      { occurredAt: new Date(Date.now() + 2 * 86_400_000).toISOString() },
      'occurredAt',
    ],
    ['an invalid time', { occurredAt: 'yesterday' }, 'occurredAt'],
    ['an unknown kind', { kind: 'PASS' as 'EXIT' }, 'kind'],
  ])('a parking event with %s is refused', async (_, reading, field) => {
    const { key, locationId } = await gateway.newTenant();
    expect(await record(key, locationId, reading)).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field },
    });
    expect(await actionsAt(locationId)).toEqual([]);
  });

  test('an API key can record parking events only with the permission WRITE_ACTIVITY, and only at locations in its scope', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const without = await gateway.newKey({
      companyIds: [companyId],
      permissions: everyPermission.filter((permission) => permission !== 'WRITE_ACTIVITY'),
    });
    expect(await record(without, locationId, {})).toMatchObject({ code: 'FORBIDDEN' });
    const { key: foreign } = await gateway.newTenant();
    const notFound = (id: string) => ({
      code: 'NOT_FOUND',
      details: { field: 'locationId', value: id },
    });
    for (const id of [locationId, newId(), 'x']) {
      expect(await record(foreign, id, {})).toMatchObject(notFound(id));
    }
    expect(await actionsAt(locationId)).toEqual([]);
  });

  test.each(['parkingEvents', 'parkingSessions'])(
    'an API key can read %s only with the permission READ_ACTIVITY, and only at locations in its scope',
    async (field) => {
      const { companyId, locationId, key } = await gateway.newTenant();
      await record(key, locationId, {});
      const read = async (as: string) => {
        const { body } = await gateway.graph(
          `query ($id: ID!) { ${field}(locationId: $id) { totalCount nodes { plateNumber } } }`,
          { key: as, variables: { id: locationId } },
        );
        return body.errors?.[0].extensions.code ?? body.data[field];
      };
      const reader = await gateway.newKey({ locationIds: [locationId], permissions: ['READ_ACTIVITY'] });
      expect(await read(reader)).toEqual({ totalCount: 1, nodes: [{ plateNumber: '7' }] });
      expect(await read((await gateway.newTenant()).key)).toBe('NOT_FOUND');
      const without = everyPermission.filter((permission) => permission !== 'READ_ACTIVITY');
      expect(await read(await gateway.newKey({ companyIds: [companyId], permissions: without }))).toBe(
        'FORBIDDEN',
      );
    },
  );
});

describe('parking sessions that the gateway derives from the parking events of one plate', () => {
  test.each<[string, [Reading['kind'], number][], object[]]>([
    ['an entry', [['ENTRY', 0]], [{ state: 'OPEN', enteredAt: minute(0), exitedAt: null }]],
    [
      'an entry and an exit',
      [
        ['ENTRY', 0],
        ['EXIT', 5],
      ],
      [{ state: 'COMPLETED', enteredAt: minute(0), exitedAt: minute(5) }],
    ],
    [
      'an exit that arrives before its entry',
      [
        ['EXIT', 5],
        ['ENTRY', 0],
      ],
      [{ state: 'COMPLETED', enteredAt: minute(0), exitedAt: minute(5) }],
    ],
    [
      'an exit without an entry',
      [['EXIT', 5]],
      [{ state: 'MISSED_ENTRY', enteredAt: null, exitedAt: minute(5) }],
    ],
    [
      'a second entry without an exit',
      [
        ['ENTRY', 0],
        ['ENTRY', 5],
      ],
      [
        { state: 'MISSED_EXIT', enteredAt: minute(0), exitedAt: null },
        { state: 'OPEN', enteredAt: minute(5), exitedAt: null },
      ],
    ],
    [
      'a late exit between two entries',
      [
        ['ENTRY', 0],
        ['ENTRY', 5],
        ['EXIT', 3],
      ],
      [
        { state: 'COMPLETED', enteredAt: minute(0), exitedAt: minute(3) },
        { state: 'OPEN', enteredAt: minute(5), exitedAt: null },
      ],
    ],
    [
      'a late entry between two exits',
      [
        ['EXIT', 0],
        ['EXIT', 5],
        ['ENTRY', 3],
      ],
      [
        { state: 'MISSED_ENTRY', enteredAt: null, exitedAt: minute(0) },
        { state: 'COMPLETED', enteredAt: minute(3), exitedAt: minute(5) },
      ],
    ],
    [
      'an exit in the instant of the entry',
      [
        ['EXIT', 0],
        ['ENTRY', 0],
      ],
      [{ state: 'COMPLETED', enteredAt: minute(0), exitedAt: minute(0) }],
    ],
  ])('the parking sessions of a plate are correct after %s', async (_, events, expected) => {
    const { key, locationId } = await gateway.newTenant();
    for (const [kind, minutes] of events) {
      await record(key, locationId, { kind: kind!, occurredAt: minute(minutes) });
    }
    expect(await sessionsOf(key, locationId)).toMatchObject(expected);
    const open = expected.filter((session) => 'state' in session && session.state === 'OPEN').length;
    expect(await sessionsOf(key, locationId, true)).toHaveLength(open);
    expect(await sessionsOf(key, locationId, false)).toHaveLength(expected.length - open);
  });

  const reading = fc.record({
    eventId: fc.constantFrom('1', '2', '3', '4', '5', '6'),
    kind: fc.constantFrom<('ENTRY' | 'EXIT')[]>('ENTRY', 'EXIT'),
    plate: fc.constantFrom(...plates),
    occurredAt: fc.integer({ min: 0, max: 5 }).map(minute),
  });

  test('the parking sessions of a plate do not depend on the order in which events arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc
          .uniqueArray(reading, { minLength: 2, maxLength: 6, selector: ({ eventId }) => eventId })
          .chain((events) =>
            fc.tuple(
              fc.shuffledSubarray(events, { minLength: events.length }),
              fc.shuffledSubarray(events, { minLength: events.length }),
            ),
          ),
        async (orders) => {
          const { companyId, key } = await gateway.newTenant();
          const states = [];
          for (const events of orders) {
            const locationId = await gateway.newLocation(companyId, { capacity: 2 });
            for (const event of events) await record(key, locationId, event);
            const { locationId: _, updatedAt: __, slug: ___, ...status } = await statusOf(key, locationId);
            states.push({ sessions: await sessionsOf(key, locationId), status });
          }
          expect(states[1]).toEqual(states[0]);
        },
      ),
      { numRuns: 15 },
    );
  });

  test('after a parking event was corrected, the parking sessions of its plate depend only on the last version of the event', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(reading, { minLength: 4, maxLength: 12 }), async (readings) => {
        const { companyId, key } = await gateway.newTenant();
        const [corrected, clean] = [
          await gateway.newLocation(companyId),
          await gateway.newLocation(companyId),
        ];
        for (const event of readings) await record(key, corrected, event);
        const last = new Map(readings.map((event) => [event.eventId, event]));
        await recordTogether(key, clean, [...last.values()]);
        expect(await sessionsOf(key, corrected)).toEqual(await sessionsOf(key, clean));
      }),
      { numRuns: 15 },
    );
  });

  test.runIf(testServerUrl)(
    'the parking sessions of a plate are correct when all its events arrive at the same time',
    async () => {
      letChangesWait();
      const { key, locationId } = await gateway.newTenant();
      const events = Array.from({ length: 30 }, (_, index) => ({
        kind: index % 2 === 0 ? ('ENTRY' as const) : ('EXIT' as const),
        occurredAt: minute(index),
      }));
      await Promise.all(events.map((event) => record(key, locationId, event)));
      const sessions = await sessionsOf(key, locationId);
      expect(sessions).toHaveLength(15);
      expect(sessions.every(({ state }: { state: string }) => state === 'COMPLETED')).toBe(true);
    },
  );

  test.runIf(testServerUrl)(
    'a parking event that a client sends 20 times at the same time is recorded once',
    async () => {
      letChangesWait();
      const { key, locationId } = await gateway.newTenant();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => record(key, locationId, { eventId: 'same' })),
      );
      expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
      expect(await actionsAt(locationId)).toEqual(['parking.entered']);
    },
  );
});

describe('the status of a location', () => {
  test('REST and GraphQL return a location status that agrees with the parking events of the location', async () => {
    const { key, companyId } = await gateway.newTenant();
    const locationId = await gateway.newLocation(companyId, { capacity: 2 });
    expect(await statusOf(key, locationId)).toMatchObject({
      state: 'AVAILABLE',
      occupied: 0,
      available: 2,
      lastActivityAt: null,
    });
    await record(key, locationId, { occurredAt: minute(1) });
    await record(key, locationId, { plate: otherPlate, occurredAt: minute(3) });
    const full = { state: 'FULL', capacity: 2, occupied: 2, available: 0, lastActivityAt: minute(3) };
    expect(await statusOf(key, locationId)).toMatchObject(full);
    const { body } = await gateway.graph(
      'query ($id: ID!) { location(id: $id) { status { state capacity occupied available lastActivityAt } } }',
      { key, variables: { id: locationId } },
    );
    expect(body.data.location.status).toEqual(full);
    await record(key, locationId, { kind: 'EXIT', occurredAt: minute(4) });
    expect(await statusOf(key, locationId)).toMatchObject({ state: 'AVAILABLE', occupied: 1, available: 1 });
  });

  test('the status of a location shows 0 available places when more vehicles than places are inside', async () => {
    const { key, companyId } = await gateway.newTenant();
    const locationId = await gateway.newLocation(companyId, { capacity: 1 });
    await Promise.all(plates.map((each) => record(key, locationId, { plate: each })));
    expect(await statusOf(key, locationId)).toMatchObject({ state: 'FULL', occupied: 3, available: 0 });
  });

  test('the gateway reads the statuses of all locations with two SQL statements', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    for (let index = 0; index < 4; index += 1) await gateway.newLocation(companyId);
    await record(key, locationId, {});
    const statements = await statementsOfRequest(async () => {
      const { body } = await gateway.rest('GET', '/locations/status', { key });
      expect(body.data.map(({ occupied }: { occupied: number }) => occupied)).toEqual([1, 0, 0, 0, 0]);
    });
    expect(statements.filter((text) => text.includes('"ParkingSession"'))).toHaveLength(1);
    expect(statements).toHaveLength(2);
  });

  test('the gateway writes an audit record when a location becomes full, and when the location has free places again', async () => {
    const { key, companyId } = await gateway.newTenant();
    const locationId = await gateway.newLocation(companyId, { capacity: 1 });
    await record(key, locationId, {});
    await record(key, locationId, { plate: otherPlate });
    await record(key, locationId, { kind: 'EXIT', occurredAt: minute(1) });
    await record(key, locationId, { plate: otherPlate, kind: 'EXIT', occurredAt: minute(2) });
    const change = (capacity: number | null) =>
      gateway.rest('PUT', `/locations/${locationId}`, { key, body: { capacity } });
    await change(0);
    await change(null);
    await change(5);
    expect((await actionsAt(locationId)).filter((action) => action !== 'location.updated')).toEqual([
      'parking.entered',
      'location.full',
      'parking.entered',
      'parking.exited',
      'parking.exited',
      'location.available',
      'location.full',
      'location.available',
    ]);
  });
});
