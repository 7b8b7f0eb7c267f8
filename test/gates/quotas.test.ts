import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';
import { testServerUrl } from '../support/scratch-database.ts';
import { statementsOfRequest } from '../support/statements.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

const plateOf = (plateNumber: string) => ({ plateType: 'DXB', plateCode: 'A', plateNumber });
const minute = (minutes: number) =>
  new Date(Date.parse('2026-03-01T08:00:00Z') + minutes * 60_000).toISOString();

/** A parking event in a short form: its `eventId`, the plate number, the kind, and the minutes since 08:00 UTC. */
type ShortEvent = [eventId: string, number: number, kind: 'ENTRY' | 'EXIT', minutes: number];

const inputOf = ([eventId, number, kind, minutes]: ShortEvent) => ({
  eventId,
  kind,
  plate: plateOf(String(number)),
  occurredAt: minute(minutes),
});

const quotaFields = '{ referenceId inside enforcement used }';

/**
 * Creates a location with the given number of vehicles (plate numbers 1, 2, …) on its whitelist. All these vehicles
 * have the same reference (unit-7), such as an apartment. Returns functions with which a test sets quotas, records
 * parking events and requests gate decisions for this location.
 */
async function unitWith(vehicles: number) {
  const { key, locationId, companyId } = await gateway.newTenant();
  const ids = Array.from({ length: vehicles }, () => newId());
  await prisma.whitelistEntry.createMany({
    data: ids.map((id, index) => ({
      ...newEntry({ ...plateOf(String(index + 1)), referenceId: 'unit-7' }),
      id,
      locationId,
    })),
  });
  const run = async (operation: string, variables: Record<string, unknown> = {}) => {
    const { body } = await gateway.graph(operation, { key, variables: { locationId, ...variables } });
    return body.errors?.[0].extensions ?? Object.values(body.data)[0];
  };
  return {
    key,
    locationId,
    companyId,
    ids,
    run,
    setQuota: (inside: number | null, enforcement?: string, referenceId = 'unit-7') =>
      run(
        `mutation ($locationId: ID!, $referenceId: String!, $inside: Int, $enforcement: QuotaEnforcement) {
          setQuota(locationId: $locationId, referenceId: $referenceId, inside: $inside, enforcement: $enforcement) ${quotaFields} }`,
        { referenceId, inside, ...(enforcement && { enforcement }) },
      ),
    record: (number: number | string, fields: Record<string, unknown> = {}) =>
      run(
        `mutation ($locationId: ID!, $input: ParkingEventInput!) { recordParkingEvent(locationId: $locationId, input: $input) { overQuota } }`,
        {
          input: {
            eventId: newId(),
            kind: 'ENTRY',
            plate: plateOf(String(number)),
            occurredAt: minute(0),
            ...fields,
          },
        },
      ),
    recordMany: (events: readonly ShortEvent[]) =>
      run(
        `mutation ($locationId: ID!, $events: [ParkingEventInput!]!) {
          recordParkingEvents(locationId: $locationId, events: $events) { rejected } }`,
        { events: events.map(inputOf) },
      ),
    decide: (number: number) =>
      run(
        `query ($locationId: ID!, $plate: PlateInput!) { plateAccess(locationId: $locationId, plate: $plate) {
          allowed reason overQuota checks { name passed detail } } }`,
        { plate: plateOf(String(number)) },
      ),
    quotas: () =>
      run(`query ($locationId: ID!) { quotas(locationId: $locationId) { totalCount nodes ${quotaFields} } }`),
    exceeded: () =>
      prisma.auditRecord.findMany({
        where: { locationId, action: 'quota.exceeded' },
        orderBy: { id: 'asc' },
      }),
  };
}

describe('quotas for vehicles with the same reference (such as an apartment)', () => {
  test('a quota admits the allowed number of vehicles of a reference (such as an apartment), and refuses the next vehicle', async () => {
    const { setQuota, record, decide, run } = await unitWith(3);
    expect(await setQuota(2)).toEqual({ referenceId: 'unit-7', inside: 2, enforcement: 'HARD', used: 0 });
    await record(1);
    expect(await decide(2)).toMatchObject({ allowed: true, overQuota: false });
    await record(2);
    expect(await decide(3)).toMatchObject({
      allowed: false,
      reason: 'QUOTA_REACHED',
      overQuota: true,
      checks: expect.arrayContaining([
        { name: 'quota', passed: false, detail: '2 other vehicles of unit-7 are inside; the quota is 2' },
        { name: 'uses', passed: true, detail: 'Any number of entries' },
      ]),
    });
    // The gateway has received no exit event of the vehicle with the plate number 1, so this vehicle still counts as
    // inside. A quota check does not count the vehicle that wants to enter. The vehicle with the plate number 1 could
    // therefore enter again without exceeding the quota.
    expect(await decide(1)).toMatchObject({ allowed: true });
    await record(1, { kind: 'EXIT', occurredAt: minute(1) });
    expect(await decide(3)).toMatchObject({ allowed: true, reason: 'LISTED' });
    expect(
      await run(
        'query ($locationId: ID!) { plateAccess(locationId: $locationId, reading: { text: "A3" }) { allowed overQuota } }',
      ),
    ).toEqual({ allowed: true, overQuota: false });
  });

  test('a quota with the enforcement REPORT admits a vehicle over the quota, and the gate decision reports that the quota is exceeded', async () => {
    const { setQuota, record, decide } = await unitWith(2);
    await setQuota(1, 'REPORT');
    await record(1);
    expect(await decide(2)).toMatchObject({
      allowed: true,
      reason: 'LISTED',
      overQuota: true,
      checks: expect.arrayContaining([
        {
          name: 'quota',
          passed: false,
          detail: '1 other vehicles of unit-7 are inside; the quota is 1; only reported',
        },
      ]),
    });
  });

  test('when the gateway records an entry event, it also checks the quota, and marks the event if the vehicle exceeds the quota', async () => {
    const { setQuota, record, exceeded, ids } = await unitWith(3);
    await setQuota(1);
    expect(await record(1, { eventId: 'one' })).toEqual({ overQuota: false });
    expect(await record(2, { eventId: 'two' })).toEqual({ overQuota: true });
    expect(await record(2, { eventId: 'two' })).toEqual({ overQuota: true });
    expect(await record(2, { eventId: 'two', occurredAt: minute(1) })).toEqual({ overQuota: true });
    expect(await record(2, { kind: 'EXIT', occurredAt: minute(2) })).toEqual({ overQuota: false });
    expect(await exceeded()).toMatchObject([
      {
        changes: {
          referenceId: 'unit-7',
          inside: 1,
          enforcement: 'HARD',
          used: 2,
          event: { eventId: 'two', whitelistEntryId: ids[1], overQuota: true },
        },
      },
    ]);
    // When a correction changes the vehicle of a parking event, the gateway checks the quota again.
    expect(await record(3, { eventId: 'two', occurredAt: minute(3) })).toEqual({ overQuota: true });
    expect(await exceeded()).toHaveLength(2);
    expect(await record('99')).toEqual({ overQuota: false });
  });

  test('when a correction changes the plate of an entry event, the vehicle with the earlier plate no longer counts as inside', async () => {
    const { setQuota, record, exceeded, quotas } = await unitWith(2);
    await setQuota(1);
    await record(1, { eventId: 'misread' });
    expect(await record(2, { eventId: 'misread' })).toEqual({ overQuota: false });
    expect(await record('99', { eventId: 'misread' })).toEqual({ overQuota: false });
    expect(await record(1)).toEqual({ overQuota: false });
    expect(await exceeded()).toEqual([]);
    expect((await quotas()).nodes).toMatchObject([{ used: 1 }]);
  });

  /**
   * Records the same parking events at two locations, each with a quota of one vehicle. The test sends the events to
   * the first location in batches, and to the second location one by one. For each location, the function returns the
   * parking events that the gateway marked as over the quota, and the audit records about exceeded quotas. For each
   * audit record, the result contains the parking event and the number of vehicles inside.
   */
  async function markedInBatchesAndOneByOne(
    requests: readonly ShortEvent[][],
    prepare: (unit: Awaited<ReturnType<typeof unitWith>>) => Promise<unknown> = async () => {},
  ) {
    const marksOf = async (
      recordAll: (unit: Awaited<ReturnType<typeof unitWith>>, events: ShortEvent[]) => Promise<unknown>,
    ) => {
      const unit = await unitWith(3);
      await unit.setQuota(1);
      await prepare(unit);
      for (const events of requests) await recordAll(unit, events);
      const marked = await prisma.parkingEvent.findMany({
        where: { locationId: unit.locationId, overQuota: true },
        orderBy: { eventId: 'asc' },
      });
      const exceeded = (await unit.exceeded()).map(
        ({ changes }) => changes as { used: number; event: { eventId: string } },
      );
      return {
        marked: marked.map(({ eventId }) => eventId),
        exceeded: exceeded.map(({ used, event }) => [event.eventId, used]),
      };
    };
    const batches = await marksOf((unit, events) => unit.recordMany(events));
    const oneByOne = await marksOf(async (unit, events) => {
      for (const event of events) {
        const { eventId, kind, occurredAt } = inputOf(event);
        expect(await unit.record(event[1], { eventId, kind, occurredAt })).toHaveProperty('overQuota');
      }
    });
    return { batches, oneByOne };
  }

  test.each<{ title: string; stored?: ShortEvent[]; batch: ShortEvent[]; exceeded: [string, number][] }>([
    {
      title: 'arrive in the order of their times',
      batch: [
        ['e0', 1, 'ENTRY', 0],
        ['e1', 2, 'ENTRY', 1],
        ['e2', 1, 'EXIT', 2],
        ['e3', 2, 'EXIT', 3],
        ['e4', 3, 'ENTRY', 4],
        ['e5', 1, 'ENTRY', 5],
      ],
      exceeded: [
        ['e1', 2],
        ['e5', 2],
      ],
    },
    {
      title: 'contain an exit before the entry of the same vehicle',
      batch: [
        ['exit', 1, 'EXIT', 1],
        ['entry', 1, 'ENTRY', 0],
        ['next', 2, 'ENTRY', 2],
      ],
      exceeded: [],
    },
    {
      title: 'contain a late exit of a vehicle that has entered again',
      stored: [['entry', 1, 'ENTRY', 5]],
      batch: [
        ['exit', 1, 'EXIT', 3],
        ['next', 2, 'ENTRY', 6],
      ],
      exceeded: [['next', 2]],
    },
    {
      title: 'contain a late entry of a vehicle that has left',
      stored: [['exit', 1, 'EXIT', 5]],
      batch: [
        ['entry', 1, 'ENTRY', 3],
        ['next', 2, 'ENTRY', 6],
      ],
      exceeded: [],
    },
    {
      title: 'correct the entry of a vehicle that has left',
      stored: [
        ['entry', 1, 'ENTRY', 0],
        ['exit', 1, 'EXIT', 5],
      ],
      batch: [
        ['entry', 1, 'ENTRY', 1],
        ['next', 2, 'ENTRY', 6],
      ],
      exceeded: [],
    },
    {
      title: 'correct the vehicle of an exit event',
      stored: [
        ['entry', 1, 'ENTRY', 0],
        ['exit', 1, 'EXIT', 5],
      ],
      batch: [
        ['exit', 2, 'EXIT', 5],
        ['next', 3, 'ENTRY', 6],
      ],
      exceeded: [['next', 2]],
    },
  ])(
    'parking events have the same effect on a quota in one batch as in single requests: events $title',
    async ({ stored = [], batch, exceeded }) => {
      const { batches, oneByOne } = await markedInBatchesAndOneByOne([
        ...stored.map((event) => [event]),
        batch,
      ]);
      expect(oneByOne.exceeded).toEqual(exceeded);
      expect(batches).toEqual(oneByOne);
    },
  );

  test('the gateway marks the same entry events as over the quota, whether it gets events from before an occupancy count in one batch or one by one', async () => {
    const { batches, oneByOne } = await markedInBatchesAndOneByOne(
      [
        [
          ['late', 1, 'ENTRY', 4],
          ['next', 2, 'ENTRY', 6],
        ],
      ],
      ({ run }) =>
        run(
          `mutation ($locationId: ID!, $at: DateTime) {
            setInside(locationId: $locationId, plates: [], at: $at) { occupied } }`,
          { at: minute(5) },
        ),
    );
    expect(oneByOne.exceeded).toEqual([]);
    expect(batches).toEqual(oneByOne);
  });

  test('the gateway marks the same entry events as over the quota, whether it gets events older than the maximum stay in one batch or one by one', async () => {
    const { batches, oneByOne } = await markedInBatchesAndOneByOne(
      [
        [
          ['overdue', 1, 'ENTRY', 0],
          ['next', 2, 'ENTRY', 1],
        ],
      ],
      ({ locationId }) =>
        prisma.location.update({ where: { id: locationId }, data: { longestStayHours: 1 } }),
    );
    expect(oneByOne.exceeded).toEqual([]);
    expect(batches).toEqual(oneByOne);
  });

  test('the gateway marks the same events as over the quota, whether it gets random parking events and corrections in batches or one by one', async () => {
    const event: fc.Arbitrary<ShortEvent> = fc.tuple(
      fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom('ENTRY', 'EXIT'),
      fc.integer({ min: 0, max: 5 }),
    );
    const request = fc.array(event, { minLength: 2, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(request, request, async (...requests) => {
        const { batches, oneByOne } = await markedInBatchesAndOneByOne(requests);
        expect(batches).toEqual(oneByOne);
      }),
      { numRuns: 10 },
    );
  });

  test('a quota applies only to vehicles of its own location and its own reference (such as an apartment)', async () => {
    const { setQuota, record, decide } = await unitWith(2);
    const other = await unitWith(2);
    await setQuota(1);
    await setQuota(0, 'HARD', 'unit-8');
    await other.record(1);
    expect(await decide(2)).toMatchObject({ allowed: true });
    expect(await record(2)).toEqual({ overQuota: false });
  });

  test('setting, replacing or deleting a quota writes an audit record, and the list of quotas shows the current values', async () => {
    const { setQuota, quotas, record, run, key, locationId } = await unitWith(2);
    await record(1);
    await setQuota(2);
    await setQuota(2);
    expect(await setQuota(3, 'REPORT')).toMatchObject({ inside: 3, enforcement: 'REPORT', used: 1 });
    expect(await quotas()).toEqual({
      totalCount: 1,
      nodes: [{ referenceId: 'unit-7', inside: 3, enforcement: 'REPORT', used: 1 }],
    });
    const { body } = await gateway.graph(
      `{ location(id: "${locationId}") { quotas(referenceId: "unit-8") { nodes { used } } } }`,
      { key },
    );
    expect(body.data.location.quotas.nodes).toEqual([]);
    expect(await setQuota(null)).toMatchObject({ inside: 3 });
    expect(await setQuota(null)).toMatchObject({ code: 'NOT_FOUND', details: { field: 'referenceId' } });
    const records = await prisma.auditRecord.findMany({
      where: { locationId, action: 'quota.set' },
      orderBy: { id: 'asc' },
    });
    const three = { referenceId: 'unit-7', inside: 3, enforcement: 'REPORT' };
    expect(records.map(({ changes }) => changes)).toEqual([
      { before: [], after: [{ ...three, inside: 2, enforcement: 'HARD' }] },
      { before: [{ ...three, inside: 2, enforcement: 'HARD' }], after: [three] },
      { before: [three], after: [] },
    ]);
    expect(
      await run(
        `mutation ($locationId: ID!) { setQuotas(locationId: $locationId, quotas: [
          { referenceId: "a", inside: 1 }, { referenceId: "b", inside: 2, enforcement: REPORT }, { referenceId: "c" }]) ${quotaFields} }`,
      ),
    ).toEqual([
      { referenceId: 'a', inside: 1, enforcement: 'HARD', used: 0 },
      { referenceId: 'b', inside: 2, enforcement: 'REPORT', used: 0 },
    ]);
  });

  test.each([
    ['a negative number of vehicles', 'inside: -1, referenceId: "a"', 'inside'],
    ['a blank reference', 'inside: 1, referenceId: " "', 'referenceId'],
    ['an unknown enforcement', 'inside: 1, referenceId: "a", enforcement: SOFT', 'enforcement'],
  ])('a request that sets a quota with %s is refused', async (_, args, field) => {
    const { run } = await unitWith(0);
    expect(
      await run(`mutation ($locationId: ID!) { setQuota(locationId: $locationId, ${args}) { used } }`),
    ).toMatchObject({ code: 'VALIDATION_ERROR', ...(field !== 'enforcement' && { details: { field } }) });
  });

  test('the gateway refuses a request that sets the same quota twice', async () => {
    const { run, quotas } = await unitWith(0);
    const twice = '[{ referenceId: "a", inside: 1 }, { referenceId: "a", inside: 2 }]';
    expect(
      await run(
        `mutation ($locationId: ID!) { setQuotas(locationId: $locationId, quotas: ${twice}) { used } }`,
      ),
    ).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'quotas.1.referenceId' } });
    expect((await quotas()).totalCount).toBe(0);
  });

  test("setting a quota needs the permission WRITE_WHITELIST and a location in the API key's scope", async () => {
    const { locationId } = await unitWith(0);
    const { key: foreign } = await gateway.newTenant();
    const reader = await gateway.newKey({ locationIds: [locationId], permissions: ['READ_WHITELIST'] });
    for (const [key, code] of [
      [foreign, 'NOT_FOUND'],
      [reader, 'FORBIDDEN'],
    ] as const) {
      const { body } = await gateway.graph(
        `mutation { setQuota(locationId: "${locationId}", referenceId: "a", inside: 1) { used } }`,
        { key },
      );
      expect(body.errors[0].extensions.code).toBe(code);
    }
  });

  test('the gateway needs only one SQL statement for a gate decision that checks a quota', async () => {
    const { setQuota, decide } = await unitWith(2);
    await setQuota(1);
    const statements = await statementsOfRequest(() => decide(1));
    expect(statements).toHaveLength(1);
  });
});

describe.runIf(testServerUrl)(
  'the quota of a reference (such as an apartment) when several vehicles enter at the same time',
  () => {
    test('when the quota is 5 and 24 vehicles of one reference (such as an apartment) enter at the same time, 19 entry events are marked as over the quota', async () => {
      const { setQuota, record, decide, exceeded } = await unitWith(24);
      await setQuota(5);
      const marks = await Promise.all(
        Array.from({ length: 24 }, (_, index) => record(index + 1, { occurredAt: minute(index % 3) })),
      );
      expect(marks.filter(({ overQuota }) => overQuota)).toHaveLength(19);
      const records = await exceeded();
      expect(records.map(({ changes }) => (changes as { used: number }).used)).toEqual(
        Array.from({ length: 19 }, (_, index) => index + 6),
      );
      expect(await decide(1)).toMatchObject({ allowed: false, reason: 'QUOTA_REACHED' });
    });
  },
);

// These tests need PostgreSQL, because `statementsOf` cannot record SQL statements of transactions on the embedded
// database.
describe.runIf(testServerUrl)('SQL statements of a batch of parking events with a quota', () => {
  test.each<{ order: string; minutes: number[]; counts: number }>([
    { order: 'in the order of their times', minutes: [0, 1, 2, 3, 4, 5], counts: 1 },
    { order: 'in the reverse order of their times', minutes: [5, 4, 3, 2, 1, 0], counts: 3 },
  ])(
    'a batch of 6 parking events ($order) causes $counts SQL statements that use the table Quota',
    async ({ minutes, counts }) => {
      const { setQuota, recordMany } = await unitWith(2);
      await setQuota(1);
      const events = minutes.map((time, index): ShortEvent => [
        `e${index}`,
        (time % 2) + 1,
        time % 4 < 2 ? 'ENTRY' : 'EXIT',
        time,
      ]);
      const statements = await statementsOfRequest(() => recordMany(events));
      expect(statements.filter((statement) => statement.includes('"Quota"'))).toHaveLength(counts);
    },
  );
});
