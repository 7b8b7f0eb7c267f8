import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { maxPlatesInside } from '../../src/parking/count-inside.ts';
import { actionsAt, openActivity, plateOf, type Seen } from '../support/activity.ts';
import { everyPermission, newEntry, sharedTestGateway } from '../support/harness.ts';
import { letChangesWait } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

/** Returns a time: the start of 1 March 2026 (UTC) plus the given number of hours. */
const hour = (hours: number) => new Date(Date.parse('2026-03-01T00:00:00.000Z') + hours * 3_600_000);

const entry = (plate: string, hours: number): Seen => ({ kind: 'ENTRY', plate, at: hour(hours) });
const exit = (plate: string, hours: number): Seen => ({ kind: 'EXIT', plate, at: hour(hours) });

/** Creates a location, and an API key that has every permission for the location. */
async function newActivity() {
  const tenant = await gateway.newTenant();
  return { ...tenant, ...openActivity(gateway, tenant.key) };
}

describe('the mutation setInside', () => {
  test('setInside opens a parking session for each vehicle in its list that has no open session, and sets the open sessions of all other vehicles to the state CORRECTED', async () => {
    const { locationId, see, setInside, sessions, status } = await newActivity();
    await see(locationId, entry('DXB/A/1', 1), entry('DXB/A/2', 1), entry('DXB/A/3', 1), exit('DXB/A/3', 2));
    const inside = ['DXB/A/2', 'AUH/17/9', 'AUH/17/9'];
    expect(await setInside(locationId, inside, hour(5))).toEqual({ occupied: 2, adjustment: 0 });
    expect(await sessions(locationId)).toEqual([
      'AUH/17/9 OPEN - -',
      'DXB/A/1 CORRECTED 03-01T01:00 -',
      'DXB/A/2 OPEN 03-01T01:00 -',
      'DXB/A/3 COMPLETED 03-01T01:00 03-01T02:00',
    ]);
    await see(locationId, exit('AUH/17/9', 6), entry('DXB/A/2', 7));
    expect(await sessions(locationId)).toEqual([
      'AUH/17/9 MISSED_ENTRY - 03-01T06:00',
      'DXB/A/1 CORRECTED 03-01T01:00 -',
      'DXB/A/2 MISSED_EXIT 03-01T01:00 -',
      'DXB/A/2 OPEN 03-01T07:00 -',
      'DXB/A/3 COMPLETED 03-01T01:00 03-01T02:00',
    ]);
    expect(await status(locationId)).toMatchObject({ occupied: 1 });
  });

  test('after setInside has opened a parking session, a late entry event with an earlier time sets the start of the session', async () => {
    const { locationId, see, setInside, sessions } = await newActivity();
    await setInside(locationId, ['DXB/A/1', 'DXB/A/2'], hour(5));
    await see(locationId, entry('DXB/A/1', 4), entry('DXB/A/3', 4), entry('DXB/A/4', 5), entry('DXB/A/5', 6));
    expect(await sessions(locationId)).toEqual([
      'DXB/A/1 OPEN 03-01T04:00 -',
      'DXB/A/2 OPEN - -',
      'DXB/A/3 CORRECTED 03-01T04:00 -',
      'DXB/A/4 CORRECTED 03-01T05:00 -',
      'DXB/A/5 OPEN 03-01T06:00 -',
    ]);
  });

  test('a repeated setInside call changes nothing, but a setInside call with other vehicles for the same time replaces the earlier call', async () => {
    const { locationId, see, setInside, sessions } = await newActivity();
    await see(locationId, entry('DXB/A/1', 1));
    await setInside(locationId, ['DXB/A/2', 'DXB/A/3'], hour(5));
    await setInside(locationId, ['DXB/A/3', 'DXB/A/2'], hour(5));
    expect((await actionsAt(gateway, locationId)).filter((action) => action !== 'parking.entered')).toEqual([
      'parking.inside_counted',
    ]);
    await setInside(locationId, ['DXB/A/1', 'DXB/A/3'], hour(5));
    expect(await sessions(locationId)).toEqual(['DXB/A/1 OPEN 03-01T01:00 -', 'DXB/A/3 OPEN - -']);
    await setInside(locationId, [], hour(5));
    expect(await sessions(locationId)).toEqual(['DXB/A/1 CORRECTED 03-01T01:00 -']);
    const audit = await prisma.auditRecord.findMany({ where: { locationId }, orderBy: { id: 'desc' } });
    expect(audit[0]).toMatchObject({
      changes: { countedAt: hour(5).toISOString(), vehicles: 0, opened: [], corrected: [expect.any(String)] },
    });
  });

  test('a parking session that setInside opens is linked to the whitelist entry of its vehicle', async () => {
    const { key, locationId, setInside, ask } = await newActivity();
    const { body } = await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry(plateOf('DXB/A/1')),
    });
    await setInside(locationId, ['DXB/A/1', 'DXB/A/2'], hour(5));
    const { nodes } = await ask(
      'query ($id: ID!) { parkingSessions(locationId: $id) { nodes { plateNumber listed countedAt entry { id } } } }',
      { id: locationId },
    );
    expect(nodes).toEqual(
      expect.arrayContaining([
        { plateNumber: '1', listed: true, countedAt: hour(5).toISOString(), entry: { id: body.data.id } },
        { plateNumber: '2', listed: false, countedAt: hour(5).toISOString(), entry: null },
      ]),
    );
  });

  test('a parking session that setInside opened ends when the maximum stay of the location is over', async () => {
    const { locationId, see, setInside, change, sessions, status } = await newActivity();
    await setInside(locationId, ['DXB/A/1'], hour(5));
    await change(locationId, { longestStayHours: 10 });
    expect(await sessions(locationId)).toEqual(['DXB/A/1 UNSEEN_EXIT - -']);
    await see(locationId, exit('DXB/A/1', 30));
    expect(await sessions(locationId)).toEqual(['DXB/A/1 MISSED_ENTRY - 03-02T06:00']);
    expect(await status(locationId)).toMatchObject({ occupied: 0 });
  });

  test('setInside accepts a list with the maximum number of vehicles, and refuses a longer list', async () => {
    const { locationId, setInside, see } = await newActivity();
    const many = Array.from({ length: maxPlatesInside }, (_, index) => `DXB/A/${index}`);
    await see(locationId, entry('DXB/A/77', 1));
    expect(await setInside(locationId, many, hour(5))).toEqual({ occupied: maxPlatesInside, adjustment: 0 });
    expect(await setInside(locationId, [...many, 'DXB/B/1'], hour(6))).toMatchObject({
      code: 'VALIDATION_ERROR',
    });
    expect(await setInside(locationId, [], hour(7))).toEqual({ occupied: 0, adjustment: 0 });
  });
});

describe('the mutation adjustOccupancy', () => {
  test('adjustOccupancy can count vehicles that have no parking session, and each exit of such a vehicle reduces the number of vehicles inside by one', async () => {
    const { locationId, see, adjust, status, sessions } = await newActivity();
    await see(locationId, entry('DXB/A/1', 1));
    expect(await adjust(locationId, 3, hour(5))).toEqual({ occupied: 3, adjustment: 2 });
    expect(await sessions(locationId)).toEqual(['DXB/A/1 OPEN 03-01T01:00 -']);
    await see(locationId, entry('DXB/A/2', 6));
    expect(await status(locationId)).toMatchObject({ occupied: 4 });
    await see(locationId, exit('DXB/A/9', 7));
    expect(await status(locationId)).toMatchObject({ occupied: 3 });
    await see(locationId, exit('DXB/A/1', 8), exit('DXB/A/2', 8));
    expect(await status(locationId)).toMatchObject({ occupied: 1 });
    await see(locationId, exit('DXB/C/1', 9), exit('DXB/C/2', 9));
    expect(await status(locationId)).toMatchObject({ occupied: 0 });
  });

  test('when adjustOccupancy sets a number of vehicles that is lower than the number of open parking sessions, the occupancy adjustment is negative', async () => {
    const { locationId, see, adjust, status } = await newActivity();
    await see(locationId, ...['1', '2', '3', '4'].map((number) => entry(`DXB/A/${number}`, 1)));
    expect(await adjust(locationId, 2, hour(5))).toEqual({ occupied: 2, adjustment: -2 });
    await see(locationId, entry('DXB/A/1', 6));
    expect(await status(locationId)).toMatchObject({ occupied: 3 });
    await see(locationId, exit('DXB/A/2', 7));
    expect(await status(locationId)).toMatchObject({ occupied: 2 });
    await see(locationId, exit('DXB/A/3', 8), exit('DXB/A/4', 8));
    expect(await status(locationId)).toMatchObject({ occupied: 1 });
  });

  test('of all calls of setInside and adjustOccupancy, only the call with the latest time determines the occupancy adjustment of a location', async () => {
    const { locationId, see, adjust, setInside, status } = await newActivity();
    await see(locationId, entry('DXB/A/1', 1));
    await adjust(locationId, 9, hour(5));
    expect(await adjust(locationId, 4, hour(4))).toEqual({ occupied: 9, adjustment: 8 });
    expect(await adjust(locationId, 1, hour(6))).toEqual({ occupied: 1, adjustment: 0 });
    await adjust(locationId, 7, hour(7));
    expect(await setInside(locationId, ['DXB/A/1', 'DXB/A/2'], hour(8))).toEqual({
      occupied: 2,
      adjustment: 0,
    });
    expect(await adjust(locationId, 3, hour(8))).toEqual({ occupied: 3, adjustment: 1 });
    expect(await status(locationId)).toMatchObject({ occupied: 3 });
  });

  test('adjustOccupancy sets the number of vehicles inside, and late parking events from before the call do not change this number', async () => {
    const { locationId, see, adjust, ask } = await newActivity();
    await adjust(locationId, 3, hour(5));
    await see(locationId, entry('DXB/A/1', 1), entry('DXB/A/2', 2));
    const status = () =>
      ask('query ($id: ID!) { locationStatus(locationId: $id) { occupied adjustment } }', { id: locationId });
    expect(await status()).toEqual({ occupied: 3, adjustment: 1 });
    await see(locationId, exit('DXB/A/2', 4));
    expect(await status()).toEqual({ occupied: 3, adjustment: 2 });
  });

  test('after adjustOccupancy has set the number of vehicles inside, a correction of an earlier setInside call does not change this number', async () => {
    const { locationId, setInside, adjust } = await newActivity();
    await setInside(locationId, ['DXB/A/1', 'DXB/A/2'], hour(1));
    expect(await adjust(locationId, 5, hour(5))).toEqual({ occupied: 5, adjustment: 3 });
    expect(await setInside(locationId, ['DXB/A/2'], hour(1))).toEqual({ occupied: 5, adjustment: 4 });
    expect(await setInside(locationId, [], hour(1))).toEqual({ occupied: 5, adjustment: 5 });
  });

  test('when the maximum stay is over, vehicles that adjustOccupancy added no longer count as inside', async () => {
    const { locationId, see, adjust, change, status } = await newActivity();
    await adjust(locationId, 3, hour(5));
    expect(await status(locationId)).toMatchObject({ occupied: 3 });
    await change(locationId, { longestStayHours: 10 });
    expect(await status(locationId)).toMatchObject({ occupied: 0 });
    const soon = new Date(Date.now() - 10 * 3_600_000 + 15_000);
    await adjust(locationId, 10, soon);
    expect(await status(locationId)).toMatchObject({ occupied: 10, state: 'FULL' });
    await expect
      .poll(() => actionsAt(gateway, locationId))
      .toEqual(expect.arrayContaining(['location.full', 'location.available']));
    expect(await status(locationId)).toMatchObject({ occupied: 0 });
    await see(locationId, entry('DXB/A/1', 1));
    expect(await status(locationId)).toMatchObject({ occupied: 0 });
  });

  test('when adjustOccupancy or setInside changes whether a location is full, the audit log has one record of this change', async () => {
    const { companyId, key } = await newActivity();
    const locationId = await gateway.newLocation(companyId, { capacity: 2 });
    const { adjust, setInside } = openActivity(gateway, key);
    await adjust(locationId, 2, hour(5));
    await adjust(locationId, 2, hour(5));
    await adjust(locationId, 3, hour(6));
    await setInside(locationId, ['DXB/A/1'], hour(7));
    expect(await actionsAt(gateway, locationId)).toEqual([
      'parking.occupancy_adjusted',
      'location.full',
      'parking.occupancy_adjusted',
      'parking.inside_counted',
      'location.available',
    ]);
  });

  test.each([-1, 1_000_001])(
    'adjustOccupancy refuses to set the number of vehicles to %d',
    async (occupied) => {
      const { locationId, adjust } = await newActivity();
      expect(await adjust(locationId, occupied, hour(5))).toMatchObject({ code: 'VALIDATION_ERROR' });
    },
  );
});

test('an API key can call setInside and adjustOccupancy only with the permission WRITE_ACTIVITY, and only for locations in its scope', async () => {
  const { companyId, locationId, setInside, adjust } = await newActivity();
  const without = everyPermission.filter((permission) => permission !== 'WRITE_ACTIVITY');
  const other = openActivity(
    gateway,
    await gateway.newKey({ companyIds: [companyId], permissions: without }),
  );
  const foreign = await newActivity();
  const inTwoDays = new Date(Date.now() + 2 * 86_400_000);
  for (const [refused, code] of [
    [await other.setInside(locationId, [], hour(1)), 'FORBIDDEN'],
    [await other.adjust(locationId, 1, hour(1)), 'FORBIDDEN'],
    [await foreign.setInside(locationId, [], hour(1)), 'NOT_FOUND'],
    [await foreign.adjust(locationId, 1, hour(1)), 'NOT_FOUND'],
    [await setInside(locationId, ['DXB/A/7A'], hour(1)), 'VALIDATION_ERROR'],
    [await setInside(locationId, [], inTwoDays), 'VALIDATION_ERROR'],
    [await adjust(locationId, 1, inTwoDays), 'VALIDATION_ERROR'],
  ]) {
    expect(refused).toMatchObject({ code });
  }
  expect(await actionsAt(gateway, locationId)).toEqual([]);
});

/** Plates that cameras confuse with each other; the last plate in the list has another plate type. */
const confusable = ['DXB/B/10', 'DXB/8/10', 'DXB/S8/10', 'DXB/5B/10', 'DXB/58/10', 'SHJ/8/10'];
const anyHour = fc.integer({ min: 0, max: 12 });

/** Generates a random parking event or a random occupancy count. */
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      eventId: fc.uuid(),
      kind: fc.constantFrom('ENTRY' as const, 'EXIT' as const),
      plate: fc.constantFrom(...confusable),
      hours: anyHour,
    }),
  },
  { weight: 1, arbitrary: fc.record({ inside: fc.subarray(confusable), hours: anyHour }) },
  { weight: 1, arbitrary: fc.record({ occupied: fc.nat(4), hours: anyHour }) },
);

/**
 * Returns a text that identifies a parking event or an occupancy count. For a correction, the function returns the same
 * text as for the original parking event or occupancy count.
 */
const identityOf = (item: { hours: number } & object) =>
  'eventId' in item ? String(item.eventId) : `${'inside' in item ? 'inside' : 'occupied'} ${item.hours}`;

describe('the occupancy that the gateway calculates from parking events and occupancy counts', () => {
  test('the occupancy of a location does not depend on the order in which parking events and occupancy counts arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc
          .uniqueArray(happening, { minLength: 3, maxLength: 8, selector: identityOf })
          .chain((items) =>
            fc.tuple(
              fc.constant(items),
              fc.shuffledSubarray(items, { minLength: items.length }),
              fc.integer({ min: 0, max: items.length }),
            ),
          ),
        fc.constantFrom(null, 2, 6),
        async ([sorted, shuffled, before], longestStayHours) => {
          const { companyId, see, setInside, adjust, sessions, status, change } = await newActivity();
          const states = [];
          for (const items of [sorted, shuffled]) {
            const locationId = await gateway.newLocation(companyId, { capacity: 2 });
            for (const [index, item] of items.entries()) {
              if (index === before) await change(locationId, { longestStayHours });
              const at = hour(item.hours);
              if ('inside' in item) await setInside(locationId, item.inside, at);
              else if ('occupied' in item) await adjust(locationId, item.occupied, at);
              else await see(locationId, { ...item, at });
            }
            if (before === items.length) await change(locationId, { longestStayHours });
            const { occupied, state } = await status(locationId);
            states.push({ sessions: await sessions(locationId), occupied, state });
            expect(occupied).toBeGreaterThanOrEqual(0);
            const { announcedFull } = await prisma.location.findUniqueOrThrow({ where: { id: locationId } });
            expect(announcedFull).toBe(state === 'FULL');
          }
          expect(states[1]).toEqual(states[0]);
        },
      ),
      { numRuns: 10 },
    );
  });

  /** Maps each plate to a plate text from a camera; the text matches this plate and no other plate. */
  const textOf: Record<string, string> = {
    'DXB/B/10': 'b 10',
    'DXB/8/10': '8-10',
    'DXB/S8/10': 'S8 10',
    'DXB/5B/10': '5b10',
    'DXB/58/10': '58 10',
    'DXB/A/7': 'DXB A 7',
  };
  const vehicles = Object.keys(textOf);
  const sighting = fc.oneof(
    {
      weight: 7,
      arbitrary: fc.record({
        eventId: fc.uuid(),
        kind: fc.constantFrom('ENTRY' as const, 'EXIT' as const),
        plate: fc.constantFrom(...vehicles, ...Object.values(textOf)),
        hours: anyHour,
      }),
    },
    { weight: 1, arbitrary: fc.record({ inside: fc.subarray(vehicles), hours: anyHour }) },
  );
  /**
   * Returns the description of a parking session; the description contains the plate without slashes and without `DXB`.
   * The returned description contains the plate as a camera would read it.
   */
  const withVehicle = (session: string) => {
    const [plate = '', ...rest] = session.split(' ');
    return [plate.replaceAll('/', '').replace(/^DXB/, ''), ...rest].join(' ');
  };

  test('the occupancy of a location does not depend on the times at which clients add vehicles to the whitelist', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc
          .uniqueArray(sighting, { minLength: 3, maxLength: 8, selector: identityOf })
          .chain((items) =>
            fc.tuple(fc.constant(items), fc.shuffledSubarray(items, { minLength: items.length })),
          ),
        fc.infiniteStream(fc.subarray(vehicles)),
        fc.constantFrom(null, 2, 6),
        async ([sorted, shuffled], listings, longestStayHours) => {
          const { companyId, see, setInside, sessions, change, list, unlist } = await newActivity();
          const states = [];
          for (const items of [sorted, shuffled]) {
            const locationId = await gateway.newLocation(companyId);
            await change(locationId, { longestStayHours });
            const listed = new Map<string, string>();
            for (const item of items) {
              // The test records the same parking events and occupancy counts at two locations. The whitelist of the
              // first location is empty. At the second location, the parking events and occupancy counts arrive in a
              // different order, and the test changes the whitelist of this location between the arrivals.
              const changing = items === sorted ? [] : listings.next().value;
              for (const plate of changing) {
                const entryId = listed.get(plate);
                if (entryId) await unlist(locationId, entryId);
                if (entryId) listed.delete(plate);
                else listed.set(plate, await list(locationId, plate));
              }
              const at = hour(item.hours);
              if ('inside' in item) await setInside(locationId, item.inside, at);
              else await see(locationId, { ...item, at });
            }
            states.push((await sessions(locationId)).map(withVehicle).sort());
          }
          expect(states[1]).toEqual(states[0]);
        },
      ),
      { numRuns: 10 },
    );
  });

  test.runIf(testServerUrl)(
    'the parking sessions of a location stay correct even if all parking events and occupancy counts arrive at the same time',
    async () => {
      letChangesWait();
      const { locationId, see, setInside, sessions } = await newActivity();
      const events = Array.from({ length: 24 }, (_, index): Seen => {
        const event = index % 2 === 0 ? entry('DXB/B/10', index) : exit('DXB/8/10', index);
        return { eventId: newId(), ...event };
      });
      const counts = [10.5, 11.5].map((hours, index) =>
        setInside(locationId, index === 0 ? ['DXB/B/10', 'DXB/A/1'] : [], hour(hours)),
      );
      await Promise.all([...counts, ...events.map((event) => see(locationId, event))]);
      const all = await sessions(locationId);
      expect(all.filter((session) => session.startsWith('DXB/B/10 COMPLETED'))).toHaveLength(12);
      expect(all.filter((session) => !session.startsWith('DXB/B/10'))).toEqual(['DXB/A/1 CORRECTED - -']);
    },
  );
});
