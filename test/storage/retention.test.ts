import pg from 'pg';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { loadConfig } from '../../src/config.ts';
import type { Sql, Statement } from '../../src/database/types.ts';
import { createRetention } from '../../src/retention/retention.ts';
import { openActivity, type Seen } from '../support/activity.ts';
import { openTestGateway } from '../support/harness.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const gateway = await openTestGateway();
const { prisma, sql } = gateway.database;

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

/**
 * Creates the retention job of a gateway process. The retention job removes expired records, such as usage records
 * after 10 days and parking events after 30 days.
 */
const open = (over = sql) =>
  createRetention({
    sql: over,
    log: pino({ level: 'silent' }),
    days: { usage: 10, usageTotals: 20, events: 30, deliveries: 20, whitelistChanges: 5 },
  });

/**
 * Inserts all usage records with one SQL statement. If the test inserted each usage record separately with Prisma, the
 * inserts would take seconds on a busy machine, and their transaction would time out.
 */
async function addUsage(count: number, createdAt: Date) {
  const operation = newId();
  await prisma.$executeRaw`
    INSERT INTO "UsageRecord" ("requestId", surface, operation, status, "durationMs", address, "createdAt")
    SELECT gen_random_uuid(), 'rest', ${operation}, 200, 1, 'test', ${createdAt} FROM generate_series(1, ${count})`;
  return () => prisma.usageRecord.count({ where: { operation } });
}

/**
 * Records parking events at a new location. Each argument describes one parking event: its plate number, its kind, and
 * its age in days.
 */
async function drive(...events: [string, 'ENTRY' | 'EXIT', number][]) {
  const { key, locationId } = await gateway.newTenant();
  for (const [plateNumber, kind, days] of events) {
    const { body } = await gateway.graph(
      `mutation ($locationId: ID!, $input: ParkingEventInput!) {
        recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
      {
        key,
        variables: {
          locationId,
          input: {
            eventId: newId(),
            kind,
            plate: { plateType: 'DXB', plateCode: 'A', plateNumber },
            occurredAt: daysAgo(days).toISOString(),
          },
        },
      },
    );
    expect(body.errors).toBeUndefined();
  }
  return { key, locationId };
}

const entry = (plate: string, days: number): Seen => ({ kind: 'ENTRY', plate, at: daysAgo(days) });
const exit = (plate: string, days: number): Seen => ({ kind: 'EXIT', plate, at: daysAgo(days) });

describe('removal of expired database records', () => {
  test('the gateway removes all usage records that are older than the configured number of days', async () => {
    const old = await addUsage(2500, daysAgo(400));
    const recent = await addUsage(3, daysAgo(9));
    const retention = open();
    expect((await retention.removeExpired()).usage).toBeGreaterThanOrEqual(2500);
    expect(await old()).toBe(0);
    expect(await recent()).toBe(3);
    await retention.close();
  });

  test('expired parking events and their sessions are removed, but the events and sessions of vehicles that are still inside are kept', async () => {
    const { key, locationId } = await drive(
      ['1', 'ENTRY', 50],
      ['1', 'EXIT', 49],
      ['1', 'ENTRY', 5],
      ['2', 'ENTRY', 40],
      ['3', 'ENTRY', 40],
      ['3', 'EXIT', 20],
      ['4', 'EXIT', 40],
      ['5', 'ENTRY', 60],
      ['5', 'ENTRY', 45],
      ['5', 'EXIT', 44],
    );
    const retention = open();
    await retention.removeExpired();
    await retention.close();
    const left = await prisma.parkingEvent.findMany({
      where: { locationId },
      orderBy: { occurredAt: 'asc' },
    });
    expect(left.map(({ plateNumber, kind }) => `${plateNumber} ${kind}`).sort()).toEqual([
      '1 ENTRY',
      '2 ENTRY',
      '3 ENTRY',
      '3 EXIT',
    ]);
    const sessions = await prisma.parkingSession.findMany({ where: { locationId } });
    expect(sessions.map(({ plateNumber, open: inside }) => `${plateNumber} ${inside}`).sort()).toEqual([
      '1 true',
      '2 true',
      '3 false',
    ]);
    const { body } = await gateway.rest('GET', `/locations/${locationId}/status`, { key });
    expect(body.data.occupied).toBe(2);
  });

  test('the retention job keeps an expired occupancy count if it is the last count of the location, or if a vehicle of this count is still inside', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { setInside, adjust, sessions, status } = openActivity(gateway, key);
    await setInside(locationId, ['DXB/A/1'], daysAgo(60));
    await setInside(locationId, ['DXB/A/2'], daysAgo(50));
    await setInside(locationId, ['DXB/A/2', 'DXB/A/3'], daysAgo(40));
    await adjust(locationId, 5, daysAgo(35));
    const before = await sessions(locationId, true);
    const retention = open();
    await retention.removeExpired();
    await retention.close();
    const left = await prisma.occupancyCount.findMany({
      where: { locationId },
      orderBy: { countedAt: 'asc' },
    });
    expect(left.map(({ kind, occupied }) => `${kind} ${occupied}`)).toEqual([
      'VEHICLES 1',
      'VEHICLES 2',
      'NUMBER 5',
    ]);
    expect(await sessions(locationId)).toEqual(before);
    expect(before).toHaveLength(2);
    expect(await status(locationId)).toMatchObject({ occupied: 5 });
  });

  test.each<
    [
      string,
      {
        inside: string[];
        counted: number;
        expired: Seen[];
        occupied: number;
        recent: Seen;
        thenOccupied: number;
      },
    ]
  >([
    [
      'the occupancy count is higher than the number of open sessions, and two counted vehicles have left',
      {
        inside: ['DXB/A/1'],
        counted: 4,
        expired: [
          exit('DXB/A/8', 50),
          exit('DXB/A/9', 49),
          entry('DXB/A/9', 50),
          entry('DXB/A/7', 65),
          exit('DXB/A/7', 48),
        ],
        occupied: 2,
        recent: exit('DXB/A/5', 1),
        thenOccupied: 1,
      },
    ],
    [
      'the occupancy count is higher than the number of open sessions, and more vehicles without a session have left than the count included',
      {
        inside: ['DXB/A/1'],
        counted: 2,
        expired: [exit('DXB/A/7', 50), exit('DXB/A/8', 50), exit('DXB/A/9', 50)],
        occupied: 1,
        recent: exit('DXB/A/5', 1),
        thenOccupied: 1,
      },
    ],
    [
      'the occupancy count is lower than the number of open sessions, and the exit event of one vehicle is missing',
      {
        inside: ['DXB/A/1', 'DXB/A/2', 'DXB/A/3'],
        counted: 1,
        expired: [entry('DXB/A/2', 50), exit('DXB/A/2', 49)],
        occupied: 1,
        recent: entry('DXB/A/3', 1),
        thenOccupied: 2,
      },
    ],
    [
      'the occupancy count is lower than the number of open sessions, and the exit events of two vehicles are missing',
      {
        inside: ['DXB/A/1', 'DXB/A/2', 'DXB/A/3'],
        counted: 2,
        expired: [
          ...[entry('DXB/A/2', 50), exit('DXB/A/2', 49)],
          ...[entry('DXB/A/3', 50), exit('DXB/A/3', 49)],
        ],
        occupied: 1,
        recent: entry('DXB/A/1', 1),
        thenOccupied: 1,
      },
    ],
  ])(
    'expired sessions are removed, and the occupancy adjustment stays the same, when %s',
    async (_, { inside, counted, expired, occupied, recent, thenOccupied }) => {
      for (const begin of ['events', 'counts'] as const) {
        const { key, locationId } = await gateway.newTenant();
        const { adjust, see, setInside, status } = openActivity(gateway, key);
        if (begin === 'events') await see(locationId, ...inside.map((plate) => entry(plate, 70)));
        // The test sets several occupancy counts, and each count contains one vehicle more than the count before it. As
        // a result, the parking session of each vehicle starts with a different occupancy count. These counts expire at
        // different times.
        else
          for (const index of inside.keys())
            await setInside(locationId, inside.toReversed().slice(0, index + 1), daysAgo(70 - index));
        await adjust(locationId, counted, daysAgo(60));
        await see(locationId, ...expired);
        expect(await status(locationId)).toMatchObject({ occupied });
        const retention = open();
        await retention.removeExpired();
        await retention.close();
        expect(await status(locationId)).toMatchObject({ occupied });
        expect(await prisma.parkingSession.count({ where: { locationId, open: false } })).toBe(0);
        await see(locationId, recent);
        expect(await status(locationId)).toMatchObject({ occupied: thenOccupied });
      }
    },
  );

  test('after the parking sessions of all vehicles of an occupancy count have expired, the occupancy history and the location status show no vehicle inside', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { adjust, see, status, ask } = openActivity(gateway, key);
    const plates = ['DXB/A/1', 'DXB/A/2', 'DXB/A/3'];
    await see(locationId, ...plates.map((plate) => entry(plate, 70)));
    await adjust(locationId, 3, daysAgo(60));
    await see(locationId, ...plates.map((plate) => exit(plate, 50)));
    const retention = open();
    await retention.removeExpired();
    await retention.close();
    expect(await status(locationId)).toMatchObject({ occupied: 0 });
    const { occupancyHistory } = await ask(
      `query ($id: ID!, $from: DateTime!, $to: DateTime!) {
        location(id: $id) { occupancyHistory(from: $from, to: $to) { occupied } } }`,
      { id: locationId, from: daysAgo(1 / 12), to: daysAgo(0) },
    );
    expect(occupancyHistory.length).toBeGreaterThan(1);
    expect(new Set(occupancyHistory.map(({ occupied }: { occupied: number }) => occupied))).toEqual(
      new Set([0]),
    );
  });

  const countedAt = daysAgo(60);
  test.each<[string, (activity: ReturnType<typeof openActivity>, locationId: string) => Promise<unknown>]>([
    [
      'parking events from before the occupancy count arrive',
      ({ see }, locationId) => see(locationId, entry('DXB/B/9', 65), exit('DXB/B/9', 64)),
    ],
    [
      'a camera with a wrong clock sends an entry event of the year 2020',
      ({ see }, locationId) =>
        see(locationId, { kind: 'ENTRY', plate: 'DXB/B/9', at: new Date('2020-01-01T00:00:00Z') }),
    ],
    [
      'an operator removes the maximum stay that a vehicle had already exceeded before the occupancy count',
      async ({ change, see }, locationId) => {
        await change(locationId, { longestStayHours: 24 });
        await see(locationId, entry('DXB/B/9', 65), exit('DXB/B/9', 10));
        await change(locationId, { longestStayHours: null });
      },
    ],
    [
      'an operator changes the counted number of vehicles, and then sets the original number again',
      async ({ adjust }, locationId) => {
        await adjust(locationId, 2, countedAt);
        await adjust(locationId, 3, countedAt);
      },
    ],
  ])(
    'the number of vehicles inside stays 0 after the sessions of the last counted vehicles have expired, even when %s',
    async (_, happen) => {
      const { key, locationId } = await gateway.newTenant();
      const activity = openActivity(gateway, key);
      const { adjust, see, status } = activity;
      const plates = ['DXB/A/1', 'DXB/A/2', 'DXB/A/3'];
      await see(locationId, ...plates.map((plate) => entry(plate, 70)));
      await adjust(locationId, 3, countedAt);
      await see(locationId, ...plates.map((plate) => exit(plate, 50)));
      const retention = open();
      await retention.removeExpired();
      expect(await status(locationId)).toMatchObject({ occupied: 0 });
      await happen(activity, locationId);
      expect(await status(locationId)).toMatchObject({ occupied: 0 });
      await retention.removeExpired();
      await retention.close();
      expect(await status(locationId)).toMatchObject({ occupied: 0 });
    },
  );

  test('a vehicle whose exit event has expired does not count as inside after the maximum stay of its location is removed', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { adjust, change, see, sessions, status } = openActivity(gateway, key);
    await change(locationId, { longestStayHours: 24 });
    await adjust(locationId, 3, daysAgo(60));
    await see(locationId, entry('DXB/A/1', 58), exit('DXB/A/1', 55));
    const retention = open();
    await retention.removeExpired();
    await retention.close();
    await change(locationId, { longestStayHours: null });
    expect(await sessions(locationId, true)).toEqual([]);
    expect(await status(locationId)).toMatchObject({ occupied: 3 });
  });

  test('the gateway removes all 1,500 expired changes of one whitelist entry, one day after the end of their retention period', async () => {
    const { locationId } = await gateway.newTenant();
    const times = [...Array.from({ length: 1500 }, () => 6.1), 5.9].map(daysAgo);
    await prisma.$executeRaw`
      INSERT INTO "WhitelistChange" ("locationId", "entryId", "plateType", "plateCode", "plateNumber", "changedAt")
      SELECT ${locationId}, ${newId()}, 'DXB', 'A', '7', t FROM unnest(${times}::timestamptz[]) AS t`;
    const retention = open();
    expect(await retention.removeExpired()).toMatchObject({ whitelistChanges: 1500 });
    await retention.close();
    expect(
      await prisma.$queryRaw`SELECT "changedAt" FROM "WhitelistChange" WHERE "locationId" = ${locationId}`,
    ).toEqual([{ changedAt: times.at(-1) }]);
  });

  test('the removal of expired records never removes an audit record', async () => {
    const { locationId } = await drive(['1', 'EXIT', 400]);
    await prisma.auditRecord.updateMany({ where: { locationId }, data: { createdAt: daysAgo(4000) } });
    const retention = open();
    await retention.removeExpired();
    await retention.close();
    expect(await prisma.parkingEvent.count({ where: { locationId } })).toBe(0);
    expect(await prisma.auditRecord.count({ where: { locationId } })).toBe(1);
  });

  test('when the database refuses one SQL statement of the retention job, the job still runs its other SQL statements', async () => {
    /**
     * Runs the retention job, and returns the names of the SQL statements that the job has sent. The statement
     * `refused` fails.
     */
    async function statementsWithout(refused?: string): Promise<string[]> {
      const sent: string[] = [];
      const retention = open({
        async query(statement, values) {
          sent.push(statement.name);
          if (statement.name === refused) throw new Error('canceling statement due to statement timeout');
          return sql.query(statement, values);
        },
      });
      await retention.removeExpired();
      await retention.close();
      return [...new Set(sent)];
    }
    const all = await statementsWithout();
    for (const name of all.filter((statement) => statement.startsWith('retention')))
      expect(await statementsWithout(name)).toEqual(all);
  });

  test('when the retention job is closed during an SQL statement, the job sends no more SQL statements', async () => {
    /**
     * Runs a retention job, and returns the names of the SQL statements that the job has sent. If `last` is the name of
     * an SQL statement, the function closes the retention job while this statement is running.
     */
    async function statementsUntil(last?: string): Promise<string[]> {
      const sent: string[] = [];
      let closing: Promise<void> | undefined;
      const retention = open({
        query(statement, values) {
          sent.push(statement.name);
          if (statement.name === last) closing = retention.close();
          return sql.query(statement, values);
        },
      });
      await retention.removeExpired();
      await (closing ?? retention.close());
      return sent;
    }
    const all = await statementsUntil();
    for (const [index, name] of all.entries()) {
      expect(await statementsUntil(name)).toEqual(all.slice(0, index + 1));
    }
  });

  test.runIf(testServerUrl)(
    'a process can remove expired records from one table while another process removes expired records from another table',
    async () => {
      const statements: Statement[] = [];
      const watched: Sql = {
        query(statement, values) {
          statements.push(statement);
          return sql.query(statement, values);
        },
      };
      const first = open(watched);
      await first.removeExpired();
      await first.close();
      const events = statements.find(({ name }) => name === 'retention ParkingEvent')!;
      const old = await addUsage(1500, daysAgo(400));
      const another = new pg.Client({ connectionString: gateway.config.databaseUrl });
      await another.connect();
      await another.query('BEGIN');
      await another.query(events.text, [30]);
      const second = open();
      await second.removeExpired();
      await second.close();
      await another.end();
      expect(await old()).toBe(0);
    },
  );

  test.runIf(testServerUrl)(
    'when several gateway processes remove expired records of one table at the same time, each record is removed once',
    async () => {
      const old = await addUsage(5000, daysAgo(400));
      const processes = [open(), open(), open()];
      const removed = await Promise.all(processes.map((retention) => retention.removeExpired()));
      expect(await old()).toBe(0);
      expect(removed.reduce((sum, { usage }) => sum + usage, 0)).toBe(5000);
      await Promise.all(processes.map((retention) => retention.close()));
    },
  );
});

test('RETENTION_CHANGES_DAYS sets how long whitelist changes are kept, and its earlier name RETENTION_REMOVALS_DAYS still works', () => {
  const days = (env: Record<string, string>) => loadConfig(env).retentionDays.whitelistChanges;
  expect(days({})).toBe(30);
  expect(days({ RETENTION_REMOVALS_DAYS: '7' })).toBe(7);
  expect(days({ RETENTION_REMOVALS_DAYS: '7', RETENTION_CHANGES_DAYS: '9' })).toBe(9);
});
