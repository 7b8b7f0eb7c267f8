import { describe, expect, test } from 'vitest';
import { openActivity, type Seen } from '../support/activity.ts';
import { sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

const at = (minutes: number) => new Date(Date.parse('2026-03-01T08:00:00Z') + minutes * 60_000);
const entry = (plate: string, plateType?: string): Omit<Seen, 'at'> => ({
  kind: 'ENTRY',
  plate,
  ...(plateType && { plateType }),
});
const exit = (plate: string, plateType?: string) => ({ ...entry(plate, plateType), kind: 'EXIT' as const });

describe('camera texts of vehicles that are not on the whitelist', () => {
  test.each<{ title: string; seen: Omit<Seen, 'at'>[]; sessions: string[] }>([
    {
      title: 'an exit event with a plate type ends the session of an entry event without a plate type',
      seen: [entry('A 7'), exit('A7', 'DXB')],
      sessions: ['//A7 COMPLETED 03-01T08:00 03-01T08:01'],
    },
    {
      title: 'an exit event without a plate type ends the session of an entry event with a plate type',
      seen: [entry('A 7', 'DXB'), exit('a-7')],
      sessions: ['DXB//A7 COMPLETED 03-01T08:00 03-01T08:01'],
    },
    {
      title:
        'an exit event ends the session when its camera text begins with the plate type of the entry event',
      seen: [entry('A 7', 'DXB'), exit('DXB A 7')],
      sessions: ['DXB//A7 COMPLETED 03-01T08:00 03-01T08:01'],
    },
    {
      title:
        'an exit event ends the session when the camera text of the entry event begins with the plate type of the exit event',
      seen: [entry('DXB A 7'), exit('A 7', 'DXB')],
      sessions: ['//DXBA7 COMPLETED 03-01T08:00 03-01T08:01'],
    },
    {
      title:
        'a second entry event with a plate type means that the exit event of the first session is missing',
      seen: [entry('A 7'), entry('A 7', 'DXB')],
      sessions: ['//A7 MISSED_EXIT 03-01T08:00 -', 'DXB//A7 OPEN 03-01T08:01 -'],
    },
    {
      title: 'an exit event with a plate type and a misread character ends the session',
      seen: [entry('B 17'), exit('B I7', 'DXB')],
      sessions: ['//B17 COMPLETED 03-01T08:00 03-01T08:01'],
    },
  ])('parking sessions of vehicles that are not on the whitelist: $title', async ({ seen, sessions }) => {
    const { key, locationId } = await gateway.newTenant();
    const { see, sessions: sessionsOf, status } = openActivity(gateway, key);
    const events = seen.map((event, index) => ({ ...event, at: at(index) }));
    await see(locationId, ...events);
    expect(await sessionsOf(locationId)).toEqual(sessions);
    expect(await status(locationId)).toMatchObject({
      occupied: sessions.filter((session) => session.includes('OPEN')).length,
    });
    const late = await gateway.newTenant();
    const other = openActivity(gateway, late.key);
    await other.see(late.locationId, ...events.toReversed());
    expect(await other.sessions(late.locationId)).toEqual(sessions);
  });

  test('an exit event ends no parking session if its camera text matches two vehicles, or if no vehicle inside has the plate type of the event', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { see, sessions } = openActivity(gateway, key);
    await see(
      locationId,
      { ...entry('A 7', 'DXB'), at: at(0) },
      { ...entry('A 7', 'SHJ'), at: at(1) },
      { ...exit('A 7', 'AUH'), at: at(2) },
      { ...exit('A 7'), at: at(3) },
    );
    expect(await sessions(locationId)).toEqual([
      '//A7 MISSED_ENTRY - 03-01T08:03',
      'AUH//A7 MISSED_ENTRY - 03-01T08:02',
      'DXB//A7 OPEN 03-01T08:00 -',
      'SHJ//A7 OPEN 03-01T08:01 -',
    ]);
  });
});
