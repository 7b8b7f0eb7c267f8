import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createRetention } from '../../src/retention/retention.ts';
import { actionsAt, openActivity } from '../support/activity.ts';
import { openTestGateway } from '../support/harness.ts';

const gateway = await openTestGateway();

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
const inside = 'DXB/A/5110';
const left = 'DXB/B/7110';
const exitOf = (plate: string, days: number) => ({ kind: 'EXIT', plate, at: daysAgo(days) }) as const;
const entryOf = (plate: string, days: number) => ({ kind: 'ENTRY', plate, at: daysAgo(days) }) as const;

/** Removes the parking events and occupancy counts that are older than 30 days. */
async function removeExpired() {
  const retention = createRetention({
    sql: gateway.database.sql,
    log: pino({ level: 'silent' }),
    days: { usage: 10, usageTotals: 20, events: 30, deliveries: 20, whitelistChanges: 5 },
  });
  await retention.removeExpired();
  await retention.close();
}

async function newActivity() {
  const { key, locationId } = await gateway.newTenant();
  return { locationId, ...openActivity(gateway, key) };
}

type Activity = Awaited<ReturnType<typeof newActivity>>;

/**
 * Each function uses one of three ways to record that the vehicle `left` has left the location: an exit event, a new
 * entry event and an exit event, or a later occupancy count. Before the call, the test has recorded an occupancy count
 * from 60 days ago, which contains the vehicles `inside` and `left`.
 */
const departures: Record<string, (activity: Activity) => Promise<unknown>> = {
  'an exit': ({ see, locationId }) => see(locationId, exitOf(left, 59)),
  'a new entry and an exit': ({ see, locationId }) => see(locationId, entryOf(left, 59), exitOf(left, 58)),
  'a later count': async ({ setInside, adjust, locationId }) => {
    await setInside(locationId, [inside], daysAgo(59));
    await adjust(locationId, 1, daysAgo(58));
  },
};

const laterChanges: Record<string, (activity: Activity) => Promise<unknown>> = {
  'the maximum stay is set and removed': async ({ change, locationId }) => {
    await change(locationId, { longestStayHours: 720 });
    await change(locationId, { longestStayHours: null });
  },
  'late events of a similar plate arrive': ({ see, locationId }) =>
    see(locationId, entryOf('DXB/C/3110', 62), exitOf('DXB/C/3110', 61)),
};

describe.each(Object.keys(departures))(
  'after the gateway has removed the expired records of a counted vehicle that left (the stay was ended by %s)',
  (departure) => {
    test.each(Object.keys(laterChanges))(
      'after a later change (%s), a vehicle that has left does not count as inside again',
      async (laterChange) => {
        const activity = await newActivity();
        const { locationId, setInside, status, sessions } = activity;
        await setInside(locationId, [inside, left], daysAgo(60));
        await departures[departure]!(activity);
        await removeExpired();
        expect(await status(locationId)).toMatchObject({ occupied: 1 });
        await laterChanges[laterChange]!(activity);
        expect(await sessions(locationId, true)).toEqual([`${inside} OPEN - -`]);
        expect(await status(locationId)).toMatchObject({ occupied: 1 });
      },
    );
  },
);

test('a vehicle that left after an occupancy count does not count as inside again after the gateway has removed its expired events', async () => {
  const { locationId, see, setInside, change, sessions } = await newActivity();
  await see(locationId, entryOf(left, 61));
  await setInside(locationId, [inside, left], daysAgo(60));
  await see(locationId, exitOf(left, 59));
  await removeExpired();
  await change(locationId, { longestStayHours: 720 });
  await change(locationId, { longestStayHours: null });
  expect(await sessions(locationId, true)).toEqual([`${inside} OPEN - -`]);
});

test('after the gateway has removed the expired exit events of vehicles, a new maximum stay creates no audit records about unseen exits of these vehicles', async () => {
  const { locationId, see, setInside, change, status } = await newActivity();
  await setInside(locationId, [inside, left], daysAgo(60));
  await see(locationId, exitOf(inside, 50), exitOf(left, 50));
  await removeExpired();
  await change(locationId, { longestStayHours: 72 });
  expect(await actionsAt(gateway, locationId)).not.toContain('parking.exit_unseen');
  await change(locationId, { longestStayHours: null });
  expect(await status(locationId)).toMatchObject({ occupied: 0 });
});

test('a vehicle that entered before an occupancy count and never left keeps its parking session when the gateway removes expired records', async () => {
  const { locationId, see, setInside, change, sessions, status } = await newActivity();
  await see(locationId, entryOf(left, 61));
  await setInside(locationId, [inside, left], daysAgo(60));
  await removeExpired();
  await change(locationId, { longestStayHours: 24 * 90 });
  expect(await sessions(locationId, true)).toHaveLength(2);
  expect(await status(locationId)).toMatchObject({ occupied: 2 });
});
