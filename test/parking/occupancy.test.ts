import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createLocationSlots } from '../../src/location-access/location-slots.ts';
import { createStayExpiry } from '../../src/parking/end-stays.ts';
import { actionsAt, openActivity, type Seen } from '../support/activity.ts';
import { sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

/** Returns the time that is the given number of hours after the start of 1 March 2026 (UTC). */
const hour = (hours: number) => new Date(Date.parse('2026-03-01T00:00:00.000Z') + hours * 3_600_000);
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

const entry = (plate: string, hours: number, plateType?: string): Seen => ({
  kind: 'ENTRY',
  plate,
  at: hour(hours),
  ...(plateType && { plateType }),
});
const exit = (plate: string, hours: number): Seen => ({ kind: 'EXIT', plate, at: hour(hours) });

/** Creates a location, and an API key that has every permission for the location. */
async function newActivity() {
  const tenant = await gateway.newTenant();
  return { ...tenant, ...openActivity(gateway, tenant.key) };
}

describe('an exit event whose plate the camera may have misread', () => {
  test.each<[string, Seen[], string[]]>([
    [
      'the exit ends the only open session whose plate differs by one confusable character',
      [entry('DXB/B/7', 1), exit('DXB/8/7', 2)],
      ['DXB/B/7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the exit does not end a session of another plate type',
      [entry('SHJ/1/7', 1), entry('AUH/1/7', 1), exit('SHJ/I/7', 2)],
      ['AUH/1/7 OPEN 03-01T01:00 -', 'SHJ/1/7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the exit ends no session when two open sessions have equally similar plates',
      [entry('DXB/88/7', 1), entry('DXB/BB/7', 1), exit('DXB/8B/7', 2)],
      ['DXB/88/7 OPEN 03-01T01:00 -', 'DXB/8B/7 MISSED_ENTRY - 03-01T02:00', 'DXB/BB/7 OPEN 03-01T01:00 -'],
    ],
    [
      'the exit ends no session whose plate differs by two characters, or by a character that cameras do not confuse',
      [entry('DXB/BB/7', 1), entry('DXB/A/7', 1), exit('DXB/88/7', 2)],
      ['DXB/88/7 MISSED_ENTRY - 03-01T02:00', 'DXB/A/7 OPEN 03-01T01:00 -', 'DXB/BB/7 OPEN 03-01T01:00 -'],
    ],
    [
      'the exit ends only the session with the same plate when a vehicle with a similar plate is also inside',
      [entry('DXB/8/7', 1), entry('DXB/B/7', 1), exit('DXB/8/7', 2)],
      ['DXB/8/7 COMPLETED 03-01T01:00 03-01T02:00', 'DXB/B/7 OPEN 03-01T01:00 -'],
    ],
    [
      'the session with a similar plate stays open when the entry event with the plate of the exit arrives after the exit',
      [entry('DXB/B/7', 1), exit('DXB/8/7', 3), entry('DXB/8/7', 2)],
      ['DXB/8/7 COMPLETED 03-01T02:00 03-01T03:00', 'DXB/B/7 OPEN 03-01T01:00 -'],
    ],
    [
      'the exit ends no session when the vehicle with the similar plate has already left',
      [entry('DXB/B/7', 1), exit('DXB/8/7', 3), exit('DXB/B/7', 2)],
      ['DXB/8/7 MISSED_ENTRY - 03-01T03:00', 'DXB/B/7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the exit with a text ends the session whose text differs by one character',
      [entry('DXB/A/12345', 1), entry('AUH/1/12345', 1), exit('A 1234-S', 2)],
      ['AUH/1/12345 OPEN 03-01T01:00 -', 'DXB/A/12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the exit with a text and a type ends the session of that type',
      [entry('DXB/A/12345', 1), entry('AUH/A/12345', 1), exit('dxb a 12345', 2)],
      ['AUH/A/12345 OPEN 03-01T01:00 -', 'DXB/A/12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the exit with a text ends no session when plates of two types match the text',
      [entry('DXB/A/12345', 1), entry('AUH/A/12345', 1), exit('A 12345', 2)],
      [
        '//A12345 MISSED_ENTRY - 03-01T02:00',
        'AUH/A/12345 OPEN 03-01T01:00 -',
        'DXB/A/12345 OPEN 03-01T01:00 -',
      ],
    ],
    [
      'the exit with a plate ends the session of a vehicle whose entry has only a text',
      [entry('A 1234 S', 1), exit('DXB/A/12345', 2)],
      ['//A1234S COMPLETED 03-01T01:00 03-01T02:00'],
    ],
  ])('an exit event whose plate the camera may have misread: %s', async (_, events, expected) => {
    const { locationId, see, sessions, status } = await newActivity();
    await see(locationId, ...events);
    expect(await sessions(locationId)).toEqual(expected);
    const inside = expected.filter((session) => session.includes('OPEN'));
    expect(await sessions(locationId, true)).toEqual(inside);
    expect(await status(locationId)).toMatchObject({ occupied: inside.length });
  });
});

describe('changes of the whitelist while a vehicle is inside', () => {
  /** A test step that replaces all plates on the whitelist with the given plates. */
  type Listing = { listed: string[] };

  test.each<[string, (Seen | Listing)[], string[]]>([
    [
      'the camera reads the same text at entry and exit',
      [entry('A 12345', 1), { listed: ['DXB/A/12345'] }, exit('a-12345', 2)],
      ['//A12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the camera reads the same text, a short plate with its type, at entry and exit',
      [entry('DXB A 7', 1), { listed: ['DXB/A/7'] }, exit('DXB A 7', 2)],
      ['//DXBA7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the exit event contains the plate instead of a camera text',
      [entry('dxb a 7', 1), exit('DXB/A/7', 2)],
      ['//DXBA7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the camera reads the same text at entry and exit while a vehicle with a similar plate is inside',
      [
        { listed: ['DXB/8/12345'] },
        ...[entry('8 12345', 1), entry('B 12345', 1)],
        { listed: ['DXB/8/12345', 'DXB/B/12345'] },
        exit('B 12345', 2),
      ],
      ['//B12345 COMPLETED 03-01T01:00 03-01T02:00', 'DXB/8/12345 OPEN 03-01T01:00 -'],
    ],
    [
      'the camera reads the same text at entry and exit, but two similar plates were removed from the whitelist in between',
      [
        { listed: ['DXB/8/12345', 'DXB/B/12345'] },
        ...[entry('8 12345', 1), entry('B 12345', 1)],
        { listed: [] },
        exit('B 12345', 2),
      ],
      ['DXB/8/12345 OPEN 03-01T01:00 -', 'DXB/B/12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the camera reads the plate type only at the exit',
      [{ listed: ['DXB/A/7'] }, entry('A 7', 1), { listed: [] }, exit('DXB-A-7', 2)],
      ['DXB/A/7 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the vehicle enters again after a missed exit',
      [entry('A 12345', 1), { listed: ['DXB/A/12345'] }, entry('A 12345', 2), exit('A 12345', 3)],
      ['//A12345 MISSED_EXIT 03-01T01:00 -', 'DXB/A/12345 COMPLETED 03-01T02:00 03-01T03:00'],
    ],
    [
      'the vehicle enters again after a missed exit, and its plate was removed from the whitelist in between',
      [{ listed: ['DXB/A/12345'] }, entry('A 12345', 1), { listed: [] }, entry('A 12345', 2)],
      ['//A12345 OPEN 03-01T02:00 -', 'DXB/A/12345 MISSED_EXIT 03-01T01:00 -'],
    ],
    [
      'the camera reads the same text at entry and exit, but at the exit the text matches another whitelist entry',
      [{ listed: ['DXB/A1/2345'] }, entry('A12345', 1), { listed: ['DXB/A/12345'] }, exit('A12345', 2)],
      ['DXB/A1/2345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the camera text matches two whitelist entries at the entry, and one whitelist entry at the exit',
      [
        { listed: ['DXB/A1/2345', 'DXB/A/12345'] },
        entry('A 12345', 1),
        { listed: ['DXB/A/12345'] },
        exit('A 12345', 2),
      ],
      ['//A12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the camera text matches one whitelist entry at the entry, and two whitelist entries at the exit',
      [
        { listed: ['DXB/A/12345'] },
        entry('A 12345', 1),
        { listed: ['DXB/A1/2345', 'DXB/A/12345'] },
        exit('A 12345', 2),
      ],
      ['DXB/A/12345 COMPLETED 03-01T01:00 03-01T02:00'],
    ],
    [
      'the vehicle is not confused with a vehicle of another type',
      [
        { listed: ['AUH/A/12345'] },
        { ...entry('A 12345', 1), plateType: 'AUH' },
        { listed: ['AUH/A/12345', 'DXB/A/12345'] },
        { ...exit('A 12345', 2), plateType: 'DXB' },
      ],
      ['AUH/A/12345 OPEN 03-01T01:00 -', 'DXB/A/12345 MISSED_ENTRY - 03-01T02:00'],
    ],
  ])(
    'a session belongs to the correct vehicle when the whitelist changes while the vehicle is inside: %s',
    async (_, happenings, expected) => {
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
    },
  );

  test('an exit event ends the parking session of the entry event with the same camera text, even if this text differs from the plate on the whitelist', async () => {
    const { locationId, see, sessions, list } = await newActivity();
    const entryId = await list(locationId, 'DXB/B/1');
    await see(locationId, { ...entry('8 I', 1), entryId });
    await see(locationId, exit('8 I', 2));
    expect(await sessions(locationId)).toEqual(['DXB/B/1 COMPLETED 03-01T01:00 03-01T02:00']);
  });

  test('a vehicle does not count as inside when its exit event arrives before its entry event', async () => {
    const { locationId, see, sessions, list, unlist } = await newActivity();
    const id = await list(locationId, 'DXB/A/7');
    await see(locationId, exit('DXB A 7', 2));
    await unlist(locationId, id);
    await see(locationId, entry('DXB A 7', 1));
    expect(await sessions(locationId)).toEqual(['//DXBA7 COMPLETED 03-01T01:00 03-01T02:00']);
  });

  test('when a vehicle leaves after the maximum stay, its exit completes its parking session, even if the vehicle was added to the whitelist during the stay', async () => {
    const { locationId, see, sessions, change, list } = await newActivity();
    await change(locationId, { longestStayHours: 10 });
    await see(locationId, entry('A 12345', 1));
    await list(locationId, 'DXB/A/12345');
    await see(locationId, exit('A 12345', 20));
    expect(await sessions(locationId)).toEqual(['//A12345 COMPLETED 03-01T01:00 03-01T20:00']);
  });

  test('setInside finds the parking session of a plate, even when its entry event contained only a camera text', async () => {
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

describe('the maximum stay of a location', () => {
  test.each<[string, Seen[], string[]]>([
    ['the maximum stay ends an older session', [entry('DXB/A/7', 1)], ['DXB/A/7 UNSEEN_EXIT 03-01T01:00 -']],
    [
      'a vehicle that enters again after the maximum stay gets a new session',
      [entry('DXB/A/7', 1), entry('DXB/A/7', 12)],
      ['DXB/A/7 UNSEEN_EXIT 03-01T01:00 -', 'DXB/A/7 UNSEEN_EXIT 03-01T12:00 -'],
    ],
    [
      'a second entry within the maximum stay means that the exit event of the first session is missing',
      [entry('DXB/A/7', 1), entry('DXB/A/7', 11)],
      ['DXB/A/7 MISSED_EXIT 03-01T01:00 -', 'DXB/A/7 UNSEEN_EXIT 03-01T11:00 -'],
    ],
    [
      'a vehicle that leaves after the maximum stay has a completed session',
      [entry('DXB/A/7', 1), exit('DXB/A/7', 30)],
      ['DXB/A/7 COMPLETED 03-01T01:00 03-02T06:00'],
    ],
    [
      'a misread exit can still end a session at the exact end of the maximum stay',
      [entry('DXB/B/7', 1), exit('DXB/8/7', 11)],
      ['DXB/B/7 COMPLETED 03-01T01:00 03-01T11:00'],
    ],
    [
      'a misread exit cannot end a session after the maximum stay',
      [entry('DXB/B/7', 1), exit('DXB/8/7', 12)],
      ['DXB/8/7 MISSED_ENTRY - 03-01T12:00', 'DXB/B/7 UNSEEN_EXIT 03-01T01:00 -'],
    ],
    [
      'an exit ends the only open session with its camera text, although a session after its maximum stay has the same text',
      [entry('A 7', 1, 'SHJ'), entry('A 7', 12, 'DXB'), exit('A 7', 15)],
      ['DXB//A7 COMPLETED 03-01T12:00 03-01T15:00', 'SHJ//A7 UNSEEN_EXIT 03-01T01:00 -'],
    ],
    [
      'an entry ends the only open session with its camera text, although a session after its maximum stay has the same text',
      [entry('A 7', 1, 'SHJ'), entry('A 7', 12, 'DXB'), entry('A 7', 15)],
      [
        '//A7 UNSEEN_EXIT 03-01T15:00 -',
        'DXB//A7 MISSED_EXIT 03-01T12:00 -',
        'SHJ//A7 UNSEEN_EXIT 03-01T01:00 -',
      ],
    ],
    [
      'an exit ends no session when several sessions after their maximum stay have its camera text',
      [entry('A 7', 1, 'SHJ'), entry('A 7', 12, 'DXB'), exit('A 7', 30)],
      [
        '//A7 MISSED_ENTRY - 03-02T06:00',
        'DXB//A7 UNSEEN_EXIT 03-01T12:00 -',
        'SHJ//A7 UNSEEN_EXIT 03-01T01:00 -',
      ],
    ],
  ])('the maximum stay of a location ends parking sessions: %s', async (_, events, expected) => {
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

  test('after the maximum stay of a location is removed, the parking sessions are the same as before the maximum stay was set', async () => {
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

  test('when the maximum stay changes, the field `staysUntil` changes only for open parking sessions, and for sessions that lasted longer than the new maximum stay', async () => {
    const { locationId, see, change, ask } = await newActivity();
    const [longAgo, recently] = [hour(1), hoursAgo(1)];
    await change(locationId, { longestStayHours: 24 });
    await see(
      locationId,
      entry('DXB/A/11', 1),
      exit('DXB/A/11', 2),
      entry('DXB/A/22', 1),
      exit('DXB/A/22', 23),
      { kind: 'ENTRY', plate: 'DXB/A/33', at: recently },
    );
    await change(locationId, { longestStayHours: 20 });
    const { sessions } = await ask(
      'query ($id: ID!) { location(id: $id) { sessions { nodes { plateNumber staysUntil } } } }',
      { id: locationId },
    );
    const after = (start: Date, hours: number) => new Date(start.getTime() + hours * 3_600_000).toISOString();
    expect(sessions.nodes).toHaveLength(3);
    expect(sessions.nodes).toEqual(
      expect.arrayContaining([
        { plateNumber: '11', staysUntil: after(longAgo, 24) },
        { plateNumber: '22', staysUntil: after(longAgo, 20) },
        { plateNumber: '33', staysUntil: after(recently, 20) },
      ]),
    );
  });

  test.each([0, -1, 1.5, 87_601])('a maximum stay of %d hours is refused', async (longestStayHours) => {
    const { locationId, change } = await newActivity();
    expect(await change(locationId, { longestStayHours })).toMatchObject({
      code: expect.stringMatching(/VALIDATION/),
    });
  });

  test('REST does not show the maximum stay of a location, and an update over REST does not change the maximum stay', async () => {
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

  test('a parking session ends when the maximum stay is over, even without an exit event, and the audit log records the end once', async () => {
    const { companyId, key } = await newActivity();
    const locationId = await gateway.newLocation(companyId, { capacity: 1 });
    const { see, sessions, status, change } = openActivity(gateway, key);
    await change(locationId, { longestStayHours: 1 });
    await see(locationId, { kind: 'ENTRY', plate: 'DXB/A/7', at: new Date(hoursAgo(1).getTime() + 15_000) });
    expect(await status(locationId)).toMatchObject({ occupied: 1, state: 'FULL' });
    // When the maximum stay of the vehicle is over, the location is no longer full, even if no parking event arrives.
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

  test('when several gateway processes detect that the maximum stay of a parking session is over, only one process writes an audit record', async () => {
    const { locationId, see, change } = await newActivity();
    await change(locationId, { longestStayHours: 1 });
    const soon = new Date(hoursAgo(1).getTime() + 3_000);
    await see(
      locationId,
      ...['1', '2', '3'].map((n): Seen => ({ kind: 'ENTRY', plate: `DXB/A/${n}`, at: soon })),
    );
    const published: string[] = [];
    const processes = [1, 2, 3].map(() =>
      createStayExpiry({
        ...gateway.database,
        log: pino({ level: 'silent' }),
        locationSlots: createLocationSlots(),
        statusNotices: {
          publish: (id) => published.push(id),
          watch: () => Promise.reject(new Error('unused')),
          flush: () => Promise.reject(new Error('unused')),
        },
      }),
    );
    const ended = async () =>
      (await actionsAt(gateway, locationId)).filter((action) => action === 'parking.exit_unseen').length;
    await expect
      .poll(async () => {
        await Promise.all(processes.map((each) => each.endOverdueStays()));
        return ended();
      })
      .toBe(3);
    await Promise.all(processes.map((each) => each.endOverdueStays()));
    expect(await ended()).toBe(3);
    await Promise.all(processes.map((each) => each.close()));
  });
});
