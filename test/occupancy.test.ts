import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createLocationTurns } from '../src/locations/turns.ts';
import { createStayEnds } from '../src/parking/end-stays.ts';
import { actionsAt, openActivity, type Seen } from './support/activity.ts';
import { openTestGateway } from './support/harness.ts';

const gateway = await openTestGateway();

/** An hour of the tests' first day, which is long past; later days follow from 24 on. */
const hour = (hours: number) => new Date(Date.parse('2026-03-01T00:00:00.000Z') + hours * 3_600_000);
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

const entry = (plate: string, hours: number): Seen => ({ kind: 'ENTRY', plate, at: hour(hours) });
const exit = (plate: string, hours: number): Seen => ({ kind: 'EXIT', plate, at: hour(hours) });

/** A location with a key that may do everything there. */
async function newActivity() {
  const tenant = await gateway.newTenant();
  return { ...tenant, ...openActivity(gateway, tenant.key) };
}

describe('an exit of a plate that is not inside', () => {
  test.each<[string, Seen[], string[]]>([
    [
      'ends the only open session that is one confusable character away',
      [entry('DXB/B/7', 1), exit('DXB/8/7', 2)],
      ['DXB/B/7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'does not end one of another type',
      [entry('SHJ/1/7', 1), entry('AUH/1/7', 1), exit('SHJ/I/7', 2)],
      ['AUH/1/7 OPEN 03-01T01:00 -', 'SHJ/1/7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'ends none of two that it may be',
      [entry('DXB/88/7', 1), entry('DXB/BB/7', 1), exit('DXB/8B/7', 2)],
      ['DXB/88/7 OPEN 03-01T01:00 -', 'DXB/8B/7 MISSED_ENTRY - 03-01T02:00', 'DXB/BB/7 OPEN 03-01T01:00 -'],
    ],
    [
      'ends none that is two characters away, or that differs by another character',
      [entry('DXB/BB/7', 1), entry('DXB/A/7', 1), exit('DXB/88/7', 2)],
      ['DXB/88/7 MISSED_ENTRY - 03-01T02:00', 'DXB/A/7 OPEN 03-01T01:00 -', 'DXB/BB/7 OPEN 03-01T01:00 -'],
    ],
    [
      'ends none when its own plate is inside',
      [entry('DXB/8/7', 1), entry('DXB/B/7', 1), exit('DXB/8/7', 2)],
      ['DXB/8/7 COMPLETED 03-01T01:00 03-01T02:00', 'DXB/B/7 OPEN 03-01T01:00 -'],
    ],
    [
      'leaves what it had ended open when the entry of its own plate arrives late',
      [entry('DXB/B/7', 1), exit('DXB/8/7', 3), entry('DXB/8/7', 2)],
      ['DXB/8/7 COMPLETED 03-01T02:00 03-01T03:00', 'DXB/B/7 OPEN 03-01T01:00 -'],
    ],
    [
      'ends another one when the one that it had ended turns out to have left before',
      [entry('DXB/B/7', 1), exit('DXB/8/7', 3), exit('DXB/B/7', 2)],
      ['DXB/8/7 MISSED_ENTRY - 03-01T03:00', 'DXB/B/7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'ends the one whose text a camera read, but for one character',
      [entry('DXB/A/12345', 1), entry('AUH/1/12345', 1), exit('A 1234-S', 2)],
      ['AUH/1/12345 OPEN 03-01T01:00 -', 'DXB/A/12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'ends the one whose text a camera read with its type',
      [entry('DXB/A/12345', 1), entry('AUH/A/12345', 1), exit('dxb a 12345', 2)],
      ['AUH/A/12345 OPEN 03-01T01:00 -', 'DXB/A/12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'ends none of two types whose text a camera read',
      [entry('DXB/A/12345', 1), entry('AUH/A/12345', 1), exit('A 12345', 2)],
      [
        '//A12345 MISSED_ENTRY - 03-01T02:00',
        'AUH/A/12345 OPEN 03-01T01:00 -',
        'DXB/A/12345 OPEN 03-01T01:00 -',
      ],
    ],
    [
      'ends that of a vehicle of which the entry knew only the text',
      [entry('A 1234 S', 1), exit('DXB/A/12345', 2)],
      ['//A1234S COMPLETED 03-01T01:00 03-01T02:00'],
    ],
  ])('%s', async (_, events, expected) => {
    const { locationId, see, sessions, status } = await newActivity();
    await see(locationId, ...events);
    expect(await sessions(locationId)).toEqual(expected);
    const inside = expected.filter((session) => session.includes('OPEN'));
    expect(await sessions(locationId, true)).toEqual(inside);
    expect(await status(locationId)).toMatchObject({ occupied: inside.length });
  });
});

describe('a vehicle whose entry is made or deleted while it is inside', () => {
  /** Which vehicles are listed from then on, instead of those before. */
  type Listing = { listed: string[] };

  test.each<[string, (Seen | Listing)[], string[]]>([
    [
      'leaves by the same text',
      [entry('A 12345', 1), { listed: ['DXB/A/12345'] }, exit('a-12345', 2)],
      ['//A12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'leaves by the same text, with two characters and a type',
      [entry('DXB A 7', 1), { listed: ['DXB/A/7'] }, exit('DXB A 7', 2)],
      ['//DXBA7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'leaves by its plate',
      [entry('dxb a 7', 1), exit('DXB/A/7', 2)],
      ['//DXBA7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'leaves by the same text, although a similar one is inside',
      [
        { listed: ['DXB/8/12345'] },
        ...[entry('8 12345', 1), entry('B 12345', 1)],
        { listed: ['DXB/8/12345', 'DXB/B/12345'] },
        exit('B 12345', 2),
      ],
      ['//B12345 COMPLETED 03-01T01:00 03-01T02:00', 'DXB/8/12345 OPEN 03-01T01:00 -'],
    ],
    [
      'leaves by the same text, although the plate of a similar one is inside and it is no longer listed',
      [
        { listed: ['DXB/8/12345', 'DXB/B/12345'] },
        ...[entry('8 12345', 1), entry('B 12345', 1)],
        { listed: [] },
        exit('B 12345', 2),
      ],
      ['DXB/8/12345 OPEN 03-01T01:00 -', 'DXB/B/12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'leaves by a text with its type',
      [{ listed: ['DXB/A/7'] }, entry('A 7', 1), { listed: [] }, exit('DXB-A-7', 2)],
      ['DXB/A/7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'comes again: nobody saw its exit',
      [entry('A 12345', 1), { listed: ['DXB/A/12345'] }, entry('A 12345', 2), exit('A 12345', 3)],
      ['//A12345 MISSED_EXIT 03-01T01:00 -', 'DXB/A/12345 COMPLETED 03-01T02:00 03-01T03:00'],
    ],
    [
      'comes again without an entry: nobody saw its exit',
      [{ listed: ['DXB/A/12345'] }, entry('A 12345', 1), { listed: [] }, entry('A 12345', 2)],
      ['//A12345 OPEN 03-01T02:00 -', 'DXB/A/12345 MISSED_EXIT 03-01T01:00 -'],
    ],
    [
      'leaves by the same text, whose division an entry had wrong',
      [{ listed: ['DXB/A1/2345'] }, entry('A12345', 1), { listed: ['DXB/A/12345'] }, exit('A12345', 2)],
      ['DXB/A1/2345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'leaves by the same text, which meant two entries when it came',
      [
        { listed: ['DXB/A1/2345', 'DXB/A/12345'] },
        entry('A 12345', 1),
        { listed: ['DXB/A/12345'] },
        exit('A 12345', 2),
      ],
      ['//A12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'leaves by the same text, which means two entries by then',
      [
        { listed: ['DXB/A/12345'] },
        entry('A 12345', 1),
        { listed: ['DXB/A1/2345', 'DXB/A/12345'] },
        exit('A 12345', 2),
      ],
      ['DXB/A/12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'is not taken for one of another type',
      [
        { listed: ['AUH/A/12345'] },
        { ...entry('A 12345', 1), plateType: 'AUH' },
        { listed: ['AUH/A/12345', 'DXB/A/12345'] },
        { ...exit('A 12345', 2), plateType: 'DXB' },
      ],
      ['AUH/A/12345 OPEN 03-01T01:00 -', 'DXB/A/12345 MISSED_ENTRY - 03-01T02:00'],
    ],
  ])('%s', async (_, happenings, expected) => {
    const { locationId, see, sessions, list, unlist } = await newActivity();
    const listed = new Map<string, string>();
    for (const happening of happenings) {
      if ('kind' in happening) {
        await see(locationId, happening);
        continue;
      }
      for (const [plate, id] of listed) {
        if (happening.listed.includes(plate)) continue;
        await unlist(locationId, id);
        listed.delete(plate);
      }
      for (const plate of happening.listed) {
        if (!listed.has(plate)) listed.set(plate, await list(locationId, plate));
      }
    }
    expect(await sessions(locationId)).toEqual(expected);
  });

  test('leaves by the text of the camera, although the gate had let another plate in', async () => {
    const { locationId, see, sessions, list } = await newActivity();
    const entryId = await list(locationId, 'DXB/B/1');
    await see(locationId, { ...entry('8 I', 1), entryId });
    await see(locationId, exit('8 I', 2));
    expect(await sessions(locationId)).toEqual(['DXB/B/1 COMPLETED 03-01T01:00 03-01T02:00']);
  });

  test('leaves when its exit arrives first', async () => {
    const { locationId, see, sessions, list, unlist } = await newActivity();
    const id = await list(locationId, 'DXB/A/7');
    await see(locationId, exit('DXB A 7', 2));
    await unlist(locationId, id);
    await see(locationId, entry('DXB A 7', 1));
    expect(await sessions(locationId)).toEqual(['//DXBA7 COMPLETED 03-01T01:00 03-01T02:00']);
  });

  test('leaves after the longest stay, as one that was always listed', async () => {
    const { locationId, see, sessions, change, list } = await newActivity();
    await change(locationId, { longestStayHours: 10 });
    await see(locationId, entry('A 12345', 1));
    await list(locationId, 'DXB/A/12345');
    await see(locationId, exit('A 12345', 20));
    expect(await sessions(locationId)).toEqual(['//A12345 COMPLETED 03-01T01:00 03-01T20:00']);
  });

  test('is known to be inside by a count of plates', async () => {
    const { locationId, see, sessions, setInside } = await newActivity();
    await see(locationId, entry('DXB A 7', 1), entry('A 12345', 1));
    expect(await setInside(locationId, ['DXB/A/7', 'AUH/9/1'], hour(5))).toMatchObject({ occupied: 2 });
    expect(await sessions(locationId)).toEqual([
      '//A12345 CORRECTED 03-01T01:00 -',
      '//DXBA7 OPEN 03-01T01:00 -',
      'AUH/9/1 OPEN - -',
    ]);
  });
});

describe('the longest stay of a location', () => {
  test.each<[string, Seen[], string[]]>([
    ['ends a session that is older', [entry('DXB/A/7', 1)], ['DXB/A/7 UNSEEN_EXIT 03-01T01:00 -']],
    [
      'is followed by a session of its own when the vehicle comes again',
      [entry('DXB/A/7', 1), entry('DXB/A/7', 12)],
      ['DXB/A/7 UNSEEN_EXIT 03-01T01:00 -', 'DXB/A/7 UNSEEN_EXIT 03-01T12:00 -'],
    ],
    [
      'does not take a missed exit for it when the vehicle came again before',
      [entry('DXB/A/7', 1), entry('DXB/A/7', 11)],
      ['DXB/A/7 MISSED_EXIT 03-01T01:00 -', 'DXB/A/7 UNSEEN_EXIT 03-01T11:00 -'],
    ],
    [
      'is exceeded by a vehicle that is seen to leave later',
      [entry('DXB/A/7', 1), exit('DXB/A/7', 30)],
      ['DXB/A/7 COMPLETED 03-01T01:00 03-02T06:00'],
    ],
    [
      'still counts in the instant in which it ends',
      [entry('DXB/B/7', 1), exit('DXB/8/7', 11)],
      ['DXB/B/7 COMPLETED 03-01T01:00 03-01T11:00'],
    ],
    [
      'leaves nothing that a misread exit could end',
      [entry('DXB/B/7', 1), exit('DXB/8/7', 12)],
      ['DXB/8/7 MISSED_ENTRY - 03-01T12:00', 'DXB/B/7 UNSEEN_EXIT 03-01T01:00 -'],
    ],
  ])('%s', async (_, events, expected) => {
    const { companyId, locationId, see, sessions, status, change } = await newActivity();
    const later = await gateway.newLocation(companyId);
    expect(await change(locationId, { longestStayHours: 10 })).toEqual({ longestStayHours: 10 });
    await see(locationId, ...events);
    await see(later, ...events);
    await change(later, { longestStayHours: 10 });
    for (const id of [locationId, later]) {
      expect(await sessions(id)).toEqual(expected);
      expect(await sessions(id, true)).toEqual([]);
      expect(await sessions(id, false)).toEqual(expected);
      expect(await status(id)).toMatchObject({ occupied: 0 });
    }
  });

  test('gives what it had ended back when it is taken away', async () => {
    const { locationId, see, sessions, status, change } = await newActivity();
    await see(locationId, entry('DXB/B/7', 1), exit('DXB/8/7', 20));
    const without = await sessions(locationId);
    await change(locationId, { longestStayHours: 5 });
    expect(await sessions(locationId)).not.toEqual(without);
    await change(locationId, { longestStayHours: 40 });
    expect(await sessions(locationId)).toEqual(without);
    await change(locationId, { longestStayHours: 5 });
    await change(locationId, { longestStayHours: null });
    expect(await sessions(locationId)).toEqual(without);
    expect(await status(locationId)).toMatchObject({ occupied: 0 });
  });

  test.each([0, -1, 1.5, 87_601])('cannot be %d hours', async (longestStayHours) => {
    const { locationId, change } = await newActivity();
    expect(await change(locationId, { longestStayHours })).toMatchObject({
      code: expect.stringMatching(/VALIDATION/),
    });
  });

  test('is no field of REST, whose updates keep it', async () => {
    const { key, locationId, change, ask } = await newActivity();
    await change(locationId, { longestStayHours: 10 });
    const { body } = await gateway.rest('PUT', `/locations/${locationId}`, {
      key,
      body: { capacity: 5, longestStayHours: 20 },
    });
    expect(body.data).not.toHaveProperty('longestStayHours');
    expect(
      await ask('query ($id: ID!) { location(id: $id) { longestStayHours } }', { id: locationId }),
    ).toEqual({
      longestStayHours: 10,
    });
  });

  test('ends by the clock, and everybody hears of it once', async () => {
    const { companyId, key } = await newActivity();
    const locationId = await gateway.newLocation(companyId, { capacity: 1 });
    const { see, sessions, status, change } = openActivity(gateway, key);
    await change(locationId, { longestStayHours: 1 });
    await see(locationId, { kind: 'ENTRY', plate: 'DXB/A/7', at: new Date(hoursAgo(1).getTime() + 4_000) });
    expect(await status(locationId)).toMatchObject({ occupied: 1, state: 'FULL' });
    // Nobody has to write anything for it to be known.
    await expect.poll(() => status(locationId)).toMatchObject({ occupied: 0, state: 'AVAILABLE' });
    expect(await sessions(locationId)).toEqual([expect.stringContaining('UNSEEN_EXIT')]);
    await expect
      .poll(() => actionsAt(gateway, locationId))
      .toEqual([
        'location.updated',
        'parking.entered',
        'location.full',
        'parking.exit_unseen',
        'location.available',
      ]);
  });

  test('is told of by one of many processes, and the subscribers of all', async () => {
    const { locationId, see, change } = await newActivity();
    await change(locationId, { longestStayHours: 1 });
    const soon = new Date(hoursAgo(1).getTime() + 3_000);
    await see(
      locationId,
      ...['1', '2', '3'].map((n): Seen => ({ kind: 'ENTRY', plate: `DXB/A/${n}`, at: soon })),
    );
    const published: string[] = [];
    const processes = [1, 2, 3].map(() =>
      createStayEnds({
        ...gateway.database,
        log: pino({ level: 'silent' }),
        locationTurns: createLocationTurns(),
        statusNotices: {
          publish: (id) => published.push(id),
          watch: () => Promise.reject(new Error('unused')),
        },
      }),
    );
    const ended = async () =>
      (await actionsAt(gateway, locationId)).filter((action) => action === 'parking.exit_unseen').length;
    await expect
      .poll(async () => {
        await Promise.all(processes.map((each) => each.endStays()));
        return ended();
      })
      .toBe(3);
    await Promise.all(processes.map((each) => each.endStays()));
    expect(await ended()).toBe(3);
    await Promise.all(processes.map((each) => each.close()));
  });
});
