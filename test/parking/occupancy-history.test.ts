import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OccupancyCount, ParkingSession } from '../../prisma/generated/client/client.ts';
import { newId } from '../../src/ids.ts';
import type { HistoryInterval } from '../../src/parking/history-points.ts';
import { endOf, startOf as beginOf } from '../../src/parking/session-columns.ts';
import { openActivity, type Seen } from '../support/activity.ts';
import { everyPermission, openTestGateway } from '../support/harness.ts';
import { nodesOf, type PlanNode } from '../support/query-plans.ts';
import { statementsOfRequest } from '../support/statements.ts';

// The tests in this file use their own gateway, because the rows that other tests write could change the query plans.
const gateway = await openTestGateway();
const { prisma, sql } = gateway.database;

const hourMs = 3_600_000;
/** Returns the time that is the given number of hours after the start of 1 March 2026 (UTC). */
const hour = (hours: number) => new Date(Date.parse('2026-03-01T00:00:00.000Z') + hours * hourMs);

const historyQuery = `query ($id: ID!, $from: DateTime!, $to: DateTime!, $interval: HistoryInterval) {
  location(id: $id) { occupancyHistory(from: $from, to: $to, interval: $interval) { at occupied entries exits } } }`;

interface Point {
  at: string;
  occupied: number;
  entries: number;
  exits: number;
}

/** Creates a location, and an API key that has every permission for the location. */
async function newActivity() {
  const tenant = await gateway.newTenant();
  const activity = openActivity(gateway, tenant.key);
  const history = async (id: string, from: Date, to: Date, interval?: HistoryInterval): Promise<Point[]> =>
    (await activity.ask(historyQuery, { id, from, to, interval })).occupancyHistory;
  return { ...tenant, ...activity, history };
}

describe('the occupancy history of a location', () => {
  test('for each hour, the occupancy history contains the number of vehicles inside at the start of the hour, and the numbers of entries and exits', async () => {
    const { locationId, see, history } = await newActivity();
    await see(
      locationId,
      { kind: 'ENTRY', plate: 'DXB/A/1', at: hour(0.5) },
      { kind: 'ENTRY', plate: 'DXB/A/2', at: hour(1) },
      { kind: 'EXIT', plate: 'DXB/A/1', at: hour(2.25) },
      { kind: 'EXIT', plate: 'DXB/A/9', at: hour(3) },
    );
    const points = await history(locationId, hour(0), hour(4));
    expect(points).toEqual(
      [
        { occupied: 0, entries: 1, exits: 0 },
        { occupied: 2, entries: 1, exits: 0 },
        { occupied: 2, entries: 0, exits: 1 },
        { occupied: 1, entries: 0, exits: 1 },
      ].map((point, hours) => ({ at: hour(hours).toISOString(), ...point })),
    );
  });

  test('the occupancy history shows the numbers of vehicles that setInside and adjustOccupancy have set', async () => {
    const { locationId, see, adjust, setInside, history } = await newActivity();
    await see(locationId, { kind: 'ENTRY', plate: 'DXB/A/1', at: hour(0) });
    await adjust(locationId, 5, hour(1));
    await see(locationId, { kind: 'EXIT', plate: 'DXB/B/7', at: hour(1.5) });
    await setInside(locationId, ['DXB/A/1', 'DXB/A/2'], hour(3));
    const points = await history(locationId, hour(0), hour(4));
    expect(points.map(({ occupied }) => occupied)).toEqual([1, 5, 4, 2]);
  });

  test('the occupancy history starts with the hour that contains the requested start time, and contains no future times', async () => {
    const { locationId, history } = await newActivity();
    const from = new Date(Date.now() - 90 * 60_000);
    const points = await history(locationId, from, new Date(Date.now() + 5 * hourMs));
    expect(Date.parse(points[0]!.at)).toBe(Math.floor(from.getTime() / hourMs) * hourMs);
    expect(Date.parse(points.at(-1)!.at)).toBeLessThanOrEqual(Date.now());
    expect(
      await history(locationId, new Date(Date.now() + hourMs), new Date(Date.now() + 2 * hourMs)),
    ).toEqual([]);
  });

  test.each<[string, Date, Date, HistoryInterval | undefined]>([
    ['751 hours', hour(0), hour(751), undefined],
    ['751 quarters of an hour', hour(0), hour(187.75), 'QUARTER_HOUR'],
    ['a thousand years of days', new Date(0), new Date('2970-01-01T00:00:00Z'), 'DAY'],
    ['an empty time range', hour(1), hour(1), undefined],
    ['a range that ends before it begins', hour(2), hour(1), undefined],
  ])(
    'a query for the occupancy history of %s is refused, and the error names the field `from`',
    async (_, from, to, interval) => {
      const { locationId, ask } = await newActivity();
      const refused = await ask(historyQuery, { id: locationId, from, to, interval });
      expect(refused).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'from', value: from.toISOString() },
      });
    },
  );

  test('a query for the occupancy history returns up to 750 points in time', async () => {
    const { locationId, history } = await newActivity();
    expect(await history(locationId, hour(-750), hour(0))).toHaveLength(750);
  });

  test('the occupancy history needs the permission READ_ACTIVITY', async () => {
    const { companyId, locationId } = await newActivity();
    const permissions = everyPermission.filter((permission) => permission !== 'READ_ACTIVITY');
    const key = await gateway.newKey({ companyIds: [companyId], permissions });
    const variables = { id: locationId, from: hour(0), to: hour(1) };
    const { body } = await gateway.graph(historyQuery, { key, variables });
    expect(body.errors[0].extensions.code).toBe('FORBIDDEN');
  });

  test('the cost of a query for the occupancy history grows with the length of the time range, even when the time range is in GraphQL variables', async () => {
    const { locationId, key } = await newActivity();
    const costOf = async (query: string, variables: Record<string, unknown>) => {
      const { body } = await gateway.graph(query, { key, variables, headers: { 'X-Query-Cost': 'true' } });
      return body.extensions.cost.requested;
    };
    const [from, to] = [hour(0).toISOString(), hour(100).toISOString()];
    const written = `{ location(id: "${locationId}") { occupancyHistory(from: "${from}", to: "${to}") { at occupied } } }`;
    const withVariables = `query ($from: DateTime!, $to: DateTime!) {
      location(id: "${locationId}") { occupancyHistory(from: $from, to: $to) { at occupied } } }`;
    expect(await costOf(written, {})).toBe(1 + 20 + 100 * 2);
    expect(await costOf(withVariables, { from, to })).toBe(1 + 20 + 100 * 2);
    expect(await costOf(withVariables, { from, to: hour(200) })).toBe(1 + 20 + 200 * 2);
  });

  test('the gateway reads the occupancy history of many locations with one SQL statement that uses an index', async () => {
    const { companyId, locationId, key } = await newActivity();
    await addSessions(locationId);
    for (let count = 0; count < 3; count += 1) await gateway.newLocation(companyId);
    const query = `query ($from: DateTime!, $to: DateTime!) { locations { nodes { occupancyHistory(from: $from, to: $to) { occupied } } } }`;
    const ask = () => gateway.graph(query, { key, variables: { from: hour(0), to: hour(24) } });
    await ask();
    const statements = (await statementsOfRequest(ask)).filter((text) => text.includes('width_bucket'));
    expect(statements).toHaveLength(1);
    const [plan] = await prisma.$transaction(async (transaction) => {
      await transaction.$executeRawUnsafe('SET LOCAL enable_seqscan = off');
      const bounds = [hour(0), hour(1)].map((at) => at.toISOString());
      return transaction.$queryRawUnsafe<Record<string, unknown>[]>(
        `EXPLAIN (FORMAT JSON) ${statements[0]}`,
        [1, 1],
        [newId(), newId()],
        bounds,
      );
    });
    expect(JSON.stringify(plan)).toContain('parking_session_history');
  });
});

/** Five plates. A camera can misread `DXB/B/10` as `DXB/8/10`. */
const plates = ['DXB/B/10', 'DXB/8/10', 'DXB/A/1', 'DXB/A/2', 'DXB/A/3'];
const anyTime = fc.integer({ min: 0, max: 48 }).map((quarters) => quarters / 4);
const happening = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('ENTRY' as const, 'EXIT' as const),
      plate: fc.constantFrom(...plates),
      hours: anyTime,
    }),
  },
  { weight: 1, arbitrary: fc.record({ inside: fc.subarray(plates), hours: anyTime }) },
  { weight: 2, arbitrary: fc.record({ occupied: fc.nat(6), hours: anyTime }) },
);

const startOf = ({ enteredAt, countedAt, exitedAt }: ParkingSession) =>
  (enteredAt ?? countedAt ?? exitedAt)!.getTime();
const leftOf = ({ endedAt, exitedAt, staysUntil }: ParkingSession) =>
  Math.min(...[endedAt ?? exitedAt, staysUntil].map((at) => at?.getTime() ?? Infinity));
const isOpenAt = (session: ParkingSession, at: number) => startOf(session) <= at && leftOf(session) > at;

/** From all parking sessions and all occupancy counts, calculates how many vehicles were inside at the given time. */
function occupiedAt(
  at: number,
  sessions: readonly ParkingSession[],
  counts: readonly OccupancyCount[],
  longestStayHours: number | null,
): number {
  const open = sessions.filter((session) => isOpenAt(session, at)).length;
  const order = (count: OccupancyCount) => count.countedAt.getTime() + (count.kind === 'NUMBER' ? 0.5 : 0);
  const last = counts
    .filter(({ countedAt }) => countedAt.getTime() <= at)
    .sort((one, other) => order(other) - order(one))[0];
  if (last?.kind !== 'NUMBER') return open;
  const counted = last.countedAt.getTime();
  const known = sessions.filter((session) => isOpenAt(session, counted));
  const difference = last.occupied - known.length;
  if (difference < 0) {
    const stillOpen = known.filter((session) => isOpenAt(session, at));
    const unseenEnds = known.filter(
      (session) => !isOpenAt(session, at) && !(session.exitedAt && session.exitedAt.getTime() <= at),
    );
    return open - Math.max(Math.min(-difference - unseenEnds.length, stillOpen.length), 0);
  }
  if (longestStayHours !== null && counted + longestStayHours * hourMs <= at) return open;
  const unknownExits = sessions.filter(
    ({ enteredAt, countedAt, exitedAt, staysUntil }) =>
      exitedAt &&
      exitedAt.getTime() > counted &&
      exitedAt.getTime() <= at &&
      ((!enteredAt && !countedAt) || (staysUntil && staysUntil.getTime() <= counted)),
  );
  return open + Math.max(difference - unknownExits.length, 0);
}

test('each point of the occupancy history agrees with the stored parking sessions and the occupancy counts', async () => {
  const { companyId, key } = await newActivity();
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { minLength: 3, maxLength: 14 }),
      fc.constantFrom(null, 2, 6),
      fc.constantFrom<[HistoryInterval, number, number]>(
        ['QUARTER_HOUR', 0, 13],
        ['QUARTER_HOUR', 4, 9],
        ['HOUR', -3, 20],
        ['DAY', 0, 72],
        ['DAY', -24, 240],
      ),
      fc.record({ longestStayHours: fc.constantFrom(null, 2, 6), before: fc.nat(13) }),
      async (items, earlier, [interval, from, to], { longestStayHours, before }) => {
        const { seeTogether, setInside, adjust, change, status, ask } = openActivity(gateway, key);
        const locationId = await gateway.newLocation(companyId);
        await change(locationId, { longestStayHours: earlier });
        const send = async (part: typeof items) => {
          const events: Seen[] = [];
          const sendEvents = async () => {
            if (events.length > 0) await seeTogether(locationId, events.splice(0));
          };
          for (const item of part) {
            const at = hour(item.hours);
            if ('kind' in item) events.push({ ...item, at });
            else {
              await sendEvents();
              if ('inside' in item) await setInside(locationId, item.inside, at);
              else await adjust(locationId, item.occupied, at);
            }
          }
          await sendEvents();
        };
        const changed = Math.min(before, items.length - 1);
        await send(items.slice(0, changed));
        await change(locationId, { longestStayHours });
        await send(items.slice(changed));
        const sessions = await prisma.parkingSession.findMany({ where: { locationId } });
        const counts = await prisma.occupancyCount.findMany({ where: { locationId } });
        const variables = { id: locationId, from: hour(from), to: hour(to), interval };
        const points: Point[] = (await ask(historyQuery, variables)).occupancyHistory;
        const step = { QUARTER_HOUR: hourMs / 4, HOUR: hourMs, DAY: 24 * hourMs }[interval];
        const within = (instant: Date | null, at: number) =>
          instant !== null && instant.getTime() >= at && instant.getTime() < at + step;
        const expected = points.map((_, index) => {
          const at = hour(from).getTime() + index * step;
          return {
            at: new Date(at).toISOString(),
            occupied: occupiedAt(at, sessions, counts, longestStayHours),
            entries: sessions.filter(({ enteredAt }) => within(enteredAt, at)).length,
            exits: sessions.filter(({ exitedAt }) => within(exitedAt, at)).length,
          };
        });
        expect(points.length).toBe(Math.ceil(((to - from) * hourMs) / step));
        expect(points).toEqual(expected);
        // The last point of the occupancy history is later than all events, so its number of vehicles equals the
        // current number of vehicles inside.
        if (to >= 20) expect(points.at(-1)!.occupied).toBe((await status(locationId)).occupied);
      },
    ),
    { numRuns: 40 },
  );
});

/**
 * Inserts 2,000 completed sessions at a location, and removes the sessions of all other locations. PostgreSQL chooses a
 * query plan by the statistics of the whole table, so sessions from other tests could change the query plan. One
 * parking session starts in each hour, and every parking session lasts half an hour.
 */
async function addSessions(locationId: string) {
  await prisma.parkingSession.deleteMany({ where: { locationId: { not: locationId } } });
  const rows = Array.from({ length: 2_000 }, (_, index) => {
    const [enteredAt, exitedAt] = [hour(index), hour(index + 0.5)];
    const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: String(index) };
    return {
      id: newId(),
      locationId,
      ...plate,
      enteredAt,
      exitedAt,
      endedAt: exitedAt,
      open: false,
      listed: false,
    };
  });
  await prisma.parkingSession.createMany({ data: rows });
  await sql.query({ name: 'analyze-sessions', text: 'ANALYZE "ParkingSession"' }, []);
}

test('a query for the occupancy history of an old period reads no parking session that began after the period', async () => {
  const { locationId } = await newActivity();
  await addSessions(locationId);
  const plan = await prisma.$transaction(async (transaction) => {
    await transaction.$executeRawUnsafe('SET LOCAL enable_seqscan = off');
    return transaction.$queryRawUnsafe(
      `EXPLAIN (ANALYZE, FORMAT JSON) SELECT "plateType" FROM "ParkingSession" s
       WHERE s."locationId" = '${locationId}' AND ${endOf('s')} >= '${hour(5).toISOString()}'
         AND ${beginOf('s')} <= '${hour(10).toISOString()}'`,
    );
  });
  expect(JSON.stringify(plan)).toContain('parking_session_history');
  expect(JSON.stringify(plan)).not.toContain('Rows Removed by Filter');
});

describe('the number of sessions that a query for the occupancy history reads', () => {
  test.each<[string, number[], number[]]>([
    ['an occupancy count with an adjustment', [-0.5], [7]],
    ['an occupancy count without an adjustment', [-0.5], [1]],
    ['the last but one occupancy count', [-0.5, 1990], [7, 1]],
  ])(
    'a query for the occupancy history does not read the sessions that ended between %s and the start of the requested time range',
    async (_, counted, numbers) => {
      const { locationId, see, adjust, history } = await newActivity();
      await see(locationId, { kind: 'ENTRY', plate: 'DXB/B/7', at: hour(-1) });
      await addSessions(locationId);
      for (const [index, hours] of counted.entries()) await adjust(locationId, numbers[index]!, hour(hours));
      const [from, to] = [hour(1950), hour(1960)];
      const statements = await statementsOfRequest(async () => {
        expect(new Set((await history(locationId, from, to)).map(({ occupied }) => occupied))).toEqual(
          new Set([numbers[0]! + 1]),
        );
      });
      const [{ 'QUERY PLAN': plans }] = await prisma.$transaction(async (transaction) => {
        await transaction.$executeRawUnsafe('SET LOCAL enable_seqscan = off');
        const bounds = Array.from({ length: 11 }, (_each, index) => hour(1950 + index).toISOString());
        return transaction.$queryRawUnsafe<[{ 'QUERY PLAN': [{ Plan: PlanNode }] }]>(
          `EXPLAIN (ANALYZE, FORMAT JSON) ${statements.find((text) => text.includes('width_bucket'))}`,
          bounds.map(() => 1),
          bounds.map(() => locationId),
          bounds,
        );
      });
      const nodes = nodesOf(plans[0].Plan);
      const sessions = nodes.find((node) => node['Subplan Name'] === 'CTE session')!;
      expect(sessions['Actual Rows']).toBeGreaterThan(0);
      expect(sessions['Actual Rows']).toBeLessThan(50);
      const scans = nodesOf(sessions).filter((node) => node['Index Name']?.startsWith('parking_session'));
      expect(scans.length).toBeGreaterThan(0);
      for (const scan of scans) expect(scan['Rows Removed by Filter'] ?? 0).toBeLessThan(50);
    },
  );
});
