import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWithinHours, wallTime, type WeeklyHours, weekdays } from '../../src/whitelist/hours.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma, sql } = gateway.database;

const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7' };
const office = [
  { days: ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'], from: '07:00', to: '19:00' },
];

/**
 * Creates a location with one whitelist entry; the location has the given time zone. Returns functions that change this
 * whitelist entry, and functions that request gate decisions.
 */
async function newEntryAt(timezone: string, fields: Record<string, unknown> = {}) {
  const { key, locationId } = await gateway.newTenant();
  await prisma.location.update({ where: { id: locationId }, data: { timezone } });
  const run = async (operation: string, variables: Record<string, unknown> = {}) => {
    const { body } = await gateway.graph(operation, { key, variables: { locationId, ...variables } });
    return body.errors?.[0].extensions ?? Object.values(body.data)[0];
  };
  const entry = await run(
    `mutation ($locationId: ID!, $input: WhitelistEntryInput!) {
      createWhitelistEntry(locationId: $locationId, input: $input) { id version hours { days from to } maxEntries } }`,
    { input: newEntry({ ...plate, ...fields }) },
  );
  const setHours = (hours: unknown, more: Record<string, unknown> = {}) =>
    run(
      `mutation ($locationId: ID!, $id: ID!, $hours: [WeeklyHoursInput!], $expectedVersion: Int) {
        setEntryHours(locationId: $locationId, id: $id, hours: $hours, expectedVersion: $expectedVersion) {
          version referenceId maxEntries hours { days from to } } }`,
      { id: entry.id, hours, ...more },
    );
  const decide = (at: string) =>
    run(
      `query ($locationId: ID!, $plate: PlateInput!, $at: DateTime) {
        plateAccess(locationId: $locationId, plate: $plate, at: $at) { allowed reason checks { name passed detail } } }`,
      { plate, at },
    );
  return { key, locationId, entry, run, setHours, decide };
}

describe('permit hours of a whitelist entry', () => {
  test("a whitelist entry admits its vehicle only during the permit hours, in the location's local time", async () => {
    const { setHours, decide } = await newEntryAt('Asia/Dubai');
    expect(await setHours(office)).toMatchObject({ version: 2, hours: office });
    // 2026-03-02 is a Monday, and the time in Dubai is four hours ahead of UTC.
    expect(await decide('2026-03-02T02:59:59Z')).toMatchObject({ allowed: false, reason: 'OUTSIDE_HOURS' });
    expect(await decide('2026-03-02T03:00:00Z')).toMatchObject({ allowed: true, reason: 'LISTED' });
    expect(await decide('2026-03-02T14:59:59.999Z')).toMatchObject({ allowed: true });
    expect(await decide('2026-03-02T15:00:00Z')).toMatchObject({ allowed: false });
    expect(await decide('2026-03-01T08:00:00Z')).toMatchObject({ allowed: false });
    expect(await decide('2026-03-02T02:00:00Z')).toMatchObject({
      checks: [
        { name: 'listed', passed: true },
        { name: 'valid', passed: true },
        {
          name: 'hours',
          passed: false,
          detail:
            'MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY 07:00 to 19:00; it is MONDAY 06:00 in Asia/Dubai',
        },
        { name: 'quota', passed: true, detail: expect.stringMatching(/^No quota for unit-/) },
        { name: 'uses', passed: true, detail: 'Any number of entries' },
      ],
    });
    for (const none of [[], null]) {
      expect(await setHours(none)).toMatchObject({ hours: [] });
      expect(await decide('2026-03-01T08:00:00Z')).toMatchObject({ allowed: true });
    }
  });

  test('permit hours whose end is before their start continue after midnight', async () => {
    const { setHours, decide } = await newEntryAt('UTC');
    await setHours([{ days: ['SUNDAY'], from: '22:00', to: '06:00' }]);
    expect(await decide('2026-03-01T21:59:00Z')).toMatchObject({ allowed: false });
    expect(await decide('2026-03-01T22:00:00Z')).toMatchObject({ allowed: true });
    expect(await decide('2026-03-02T05:59:00Z')).toMatchObject({ allowed: true });
    expect(await decide('2026-03-02T06:00:00Z')).toMatchObject({ allowed: false });
    expect(await decide('2026-03-02T22:00:00Z')).toMatchObject({ allowed: false });
  });

  test.each([
    // On 29 March 2026, the clocks in Berlin go forward from 02:00 to 03:00, so the local time 02:30 does not exist.
    ['Europe/Berlin', '02:00', '03:00', '2026-03-29T00:59:00Z', false, '2026-03-29T01:00:00Z', false],
    ['Europe/Berlin', '01:30', '02:30', '2026-03-29T00:59:00Z', true, '2026-03-29T01:00:00Z', false],
    // On 1 November 2026, the clocks in New York go back from 02:00 to 01:00, so the local time 01:30 occurs twice.
    ['America/New_York', '01:00', '02:00', '2026-11-01T05:30:00Z', true, '2026-11-01T06:30:00Z', true],
    ['America/New_York', '00:00', '01:30', '2026-11-01T05:29:00Z', true, '2026-11-01T06:29:00Z', true],
    // On 4 October 2026, the clocks on Lord Howe Island go forward by half an hour, from 02:00 to 02:30.
    ['Australia/Lord_Howe', '02:00', '02:31', '2026-10-03T15:30:00Z', true, '2026-10-03T15:31:00Z', false],
  ])(
    'permit hours follow the local time on a day on which the clocks change: %s, hours from %s to %s',
    async (timezone, from, to, one, isInAtOne, other, isInAtOther) => {
      const { setHours, decide } = await newEntryAt(timezone);
      await setHours([{ days: ['SUNDAY'], from, to }]);
      expect(await decide(one)).toMatchObject({ allowed: isInAtOne });
      expect(await decide(other)).toMatchObject({ allowed: isInAtOther });
    },
  );

  test.each([
    ['an invalid day', [{ days: ['FUNDAY'], from: '07:00', to: '08:00' }], 'hours.0.days.0'],
    ['no days', [{ days: [], from: '07:00', to: '08:00' }], 'hours.0.days'],
    ['an invalid time', [{ days: ['MONDAY'], from: '7:00', to: '08:00' }], 'hours.0.from'],
    ['a start at 24:00', [{ days: ['MONDAY'], from: '24:00', to: '08:00' }], 'hours.0.from'],
    ['equal start and end', [{ days: ['MONDAY'], from: '07:00', to: '07:00' }], 'hours.0.to'],
    ['22 times', Array(22).fill({ days: ['MONDAY'], from: '07:00', to: '08:00' }), 'hours'],
  ])('a whitelist entry is refused when its permit hours have %s', async (_, hours, field) => {
    const { setHours } = await newEntryAt('UTC');
    expect(await setHours(hours)).toMatchObject({ code: 'VALIDATION_ERROR', details: { field } });
  });

  test('a change of permit hours is refused when the whitelist entry is unknown or does not have the expected version', async () => {
    const { entry, setHours } = await newEntryAt('UTC');
    const other = await newEntryAt('UTC');
    expect(await setHours(office, { id: other.entry.id })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await setHours(office, { locationId: other.locationId })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await setHours(office, { expectedVersion: 9 })).toMatchObject({ code: 'CONFLICT' });
    expect(entry).toMatchObject({ version: 1, hours: [], maxEntries: null });
  });

  test("changing a whitelist entry's permit hours writes an audit record, and adds the change to the whitelist feed", async () => {
    const { run, setHours, locationId, entry } = await newEntryAt('Asia/Dubai');
    const feed = (after: string | null) =>
      run(
        `query ($locationId: ID!, $after: String) { whitelistChanges(locationId: $locationId, after: $after) {
          cursor timezone upserts { id hours { from to } } } }`,
        { after },
      );
    const { cursor } = await feed(null);
    await setHours(office);
    expect(await feed(cursor)).toMatchObject({
      timezone: 'Asia/Dubai',
      upserts: [{ id: entry.id, hours: [{ from: '07:00', to: '19:00' }] }],
    });
    const [record] = await prisma.auditRecord.findMany({ where: { locationId }, orderBy: { id: 'desc' } });
    expect(record).toMatchObject({
      action: 'whitelist.updated',
      changes: { before: { hours: null }, after: { hours: office } },
    });
  });

  test('a parking event is stored with listed: false when its time is outside the permit hours of the whitelist entry', async () => {
    const { run, setHours } = await newEntryAt('UTC');
    await setHours(office);
    const record = (eventId: string, occurredAt: string) =>
      run(
        `mutation ($locationId: ID!, $input: ParkingEventInput!) { recordParkingEvent(locationId: $locationId, input: $input) { listed } }`,
        { input: { eventId, kind: 'ENTRY', plate, occurredAt } },
      );
    expect(await record('in', '2026-03-02T08:00:00Z')).toEqual({ listed: true });
    expect(await record('out', '2026-03-01T08:00:00Z')).toEqual({ listed: false });
  });
});

describe('permit hours and entry limits in requests', () => {
  const shown = '{ hours { days from to } maxEntries note }';
  const given = { hours: office, maxEntries: 3 };

  test('when an update omits the permit hours and the entry limit, the whitelist entry keeps its permit hours and its entry limit', async () => {
    const { key, locationId, entry, run } = await newEntryAt('UTC', given);
    expect(entry).toMatchObject(given);
    const path = `/locations/${locationId}/whitelist/${entry.id}`;
    const body = newEntry({ ...plate, note: 'by REST' });
    expect((await gateway.rest('PUT', path, { key, body })).status).toBe(200);
    const read = () =>
      run(`query ($locationId: ID!) { whitelist(locationId: $locationId) { nodes ${shown} } }`);
    expect(await read()).toEqual({ nodes: [{ ...given, note: 'by REST' }] });
    const update = (fields: Record<string, unknown>) =>
      run(
        `mutation ($locationId: ID!, $id: ID!, $input: WhitelistEntryInput!) {
          updateWhitelistEntry(locationId: $locationId, id: $id, input: $input) ${shown} }`,
        { id: entry.id, input: newEntry({ ...plate, ...fields }) },
      );
    expect(await update({ hours: null })).toMatchObject({ hours: [], maxEntries: 3 });
    expect(await update({ maxEntries: null, hours: office })).toMatchObject({
      hours: office,
      maxEntries: null,
    });
    expect(await update({ maxEntries: 0 })).toMatchObject({ details: { field: 'maxEntries' } });
  });

  test('REST does not show the permit hours and the entry limit of a whitelist entry, and cannot change them', async () => {
    const { key, locationId, entry, run } = await newEntryAt('UTC', given);
    const path = `/locations/${locationId}/whitelist`;
    const unknown = { hours: 'never', maxEntries: -1 };
    const answers = [
      await gateway.rest('PUT', `${path}/${entry.id}`, { key, body: { ...newEntry(plate), ...unknown } }),
      await gateway.rest('POST', path, {
        key,
        body: { ...newEntry({ ...plate, plateNumber: '8' }), hours: office, maxEntries: 1 },
      }),
      await gateway.rest('POST', `/locations/${locationId}/residents`, {
        key,
        body: { ...newEntry({ ...plate, plateNumber: '9' }), ...unknown },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 201]);
    for (const { body } of answers) {
      for (const field of Object.keys(unknown)) expect(body.data).not.toHaveProperty(field);
    }
    const { nodes } = await run(
      `query ($locationId: ID!) { whitelist(locationId: $locationId) { nodes { hours { days from to } maxEntries } } }`,
    );
    const without = { hours: [], maxEntries: null };
    expect(nodes).toEqual([given, without, without]);
  });

  test('a whitelist import changes permit hours and entry limits only for rows that contain these fields', async () => {
    const { locationId, run } = await newEntryAt('UTC', given);
    await run(
      `mutation ($locationId: ID!, $input: WhitelistEntryInput!) { createWhitelistEntry(locationId: $locationId, input: $input) { id } }`,
      { input: newEntry({ ...plate, plateNumber: '8', ...given }) },
    );
    const importRows = (mode: string, entries: unknown[]) =>
      run(
        `mutation ($locationId: ID!, $mode: ImportMode!, $entries: [WhitelistEntryInput!]!) {
          importWhitelistEntries(locationId: $locationId, mode: $mode, entries: $entries) { created updated unchanged rejected } }`,
        { mode, entries },
      );
    const row = (plateNumber: string, fields: Record<string, unknown>) => ({
      ...newEntry(),
      referenceId: 'r',
      ...plate,
      plateNumber,
      ...fields,
    });
    const rows = [row('7', {}), row('8', { hours: null, maxEntries: 5 }), row('9', given)];
    for (const mode of ['UPSERT', 'REPLACE']) {
      expect(await importRows(mode, rows)).toMatchObject(
        mode === 'UPSERT' ? { created: 1, updated: 2 } : { unchanged: 3 },
      );
      const entries = await prisma.whitelistEntry.findMany({
        where: { locationId },
        orderBy: { plateNumber: 'asc' },
        select: { hours: true, maxEntries: true },
      });
      expect(entries).toEqual([given, { hours: null, maxEntries: 5 }, given]);
    }
    expect(
      await importRows('UPSERT', [row('7', { hours: [{ days: [], from: '1', to: '2' }] })]),
    ).toMatchObject({
      rejected: 1,
    });
  });
});

describe('passes (whitelist entries that admit a vehicle a limited number of times)', () => {
  const at = (minute: number) => new Date(Date.parse('2026-03-01T08:00:00Z') + minute * 60_000).toISOString();

  async function newPass(maxEntries: number | null) {
    const pass = await newEntryAt('UTC', { maxEntries });
    const record = (input: Record<string, unknown>) =>
      pass.run(
        `mutation ($locationId: ID!, $input: ParkingEventInput!) { recordParkingEvent(locationId: $locationId, input: $input) { listed } }`,
        { input: { kind: 'ENTRY', plate, occurredAt: at(0), ...input } },
      );
    const recorded = async () =>
      (
        await pass.run(
          'query ($locationId: ID!) { whitelist(locationId: $locationId) { nodes { entriesRecorded } } }',
        )
      ).nodes[0].entriesRecorded;
    const reason = async () => (await pass.decide(at(0))).reason;
    return { ...pass, record, recorded, reason };
  }

  test('a pass (a whitelist entry with a limited number of entries) admits its vehicle only the allowed number of times', async () => {
    const { record, recorded, reason, decide, key, locationId } = await newPass(2);
    await record({ eventId: '1' });
    await record({ eventId: '1 out', kind: 'EXIT', occurredAt: at(1) });
    expect([await reason(), await recorded()]).toEqual(['LISTED', 1]);
    await record({ eventId: '2', occurredAt: at(2) });
    expect([await reason(), await recorded()]).toEqual(['USED_UP', 2]);
    expect((await decide(at(3))).checks).toContainEqual({
      name: 'uses',
      passed: false,
      detail: '2 of 2 entries were recorded',
    });
    const { body } = await gateway.graph(
      `{ plateAccess(locationId: "${locationId}", reading: { text: "A 7" }) { allowed reason } }`,
      { key },
    );
    expect(body.data.plateAccess).toEqual({ allowed: false, reason: 'USED_UP' });
  });

  test('a pass (whitelist entry with `maxEntries`) counts a repeated or corrected entry event once, and does not count the entry event of another plate', async () => {
    const { record, recorded } = await newPass(1);
    await record({ eventId: '1' });
    await record({ eventId: '1' });
    await record({ eventId: '1', occurredAt: at(4) });
    expect(await recorded()).toBe(1);
    await record({ eventId: '1', plate: { ...plate, plateNumber: '8' } });
    expect(await recorded()).toBe(0);
    await record({ eventId: '1', kind: 'EXIT' });
    await record({ eventId: '1' });
    expect(await recorded()).toBe(1);
  });

  test('a new pass (whitelist entry with `maxEntries`) is unused, even if a deleted pass with the same plate was used', async () => {
    const { key, locationId, entry, record, reason, recorded, run } = await newPass(1);
    await record({ eventId: '1' });
    const uses = () => prisma.whitelistEntryUse.count({ where: { entryId: entry.id } });
    expect(await uses()).toBe(1);
    await gateway.rest('DELETE', `/locations/${locationId}/whitelist/${entry.id}`, { key });
    expect(await uses()).toBe(0);
    await run(
      `mutation ($locationId: ID!, $input: WhitelistEntryInput!) { createWhitelistEntry(locationId: $locationId, input: $input) { id } }`,
      { input: newEntry({ ...plate, maxEntries: 1 }) },
    );
    expect([await reason(), await recorded()]).toEqual(['LISTED', 0]);
  });

  test('the whitelist feed reports a pass (a whitelist entry with a limited number of entries) as changed after each use', async () => {
    const { run, record, entry } = await newPass(1);
    const feed = (after: string | null) =>
      run(
        `query ($locationId: ID!, $after: String) { whitelistChanges(locationId: $locationId, after: $after) {
          cursor upserts { id entriesRecorded } } }`,
        { after },
      );
    const { cursor } = await feed(null);
    await record({ eventId: '1' });
    expect((await feed(cursor)).upserts).toEqual([{ id: entry.id, entriesRecorded: 1 }]);
  });
});

describe('local time at a location', () => {
  test.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'Asia/Dubai'])(
    'the gateway and the database compute the same local time in %s, for every quarter hour of a year',
    async (timezone) => {
      const rows = await sql.query<{ at: Date; day: number; time: string }>(
        {
          name: 'test-wall-times',
          text: `SELECT at, extract(isodow FROM at AT TIME ZONE $1)::int - 1 AS day, to_char(at AT TIME ZONE $1, 'HH24:MI') AS time
            FROM generate_series('2026-01-01T00:00:00Z'::timestamptz, '2026-12-31T23:45:00Z', '15 minutes') AS at`,
        },
        [timezone],
      );
      expect(rows.length).toBe(365 * 96);
      const wrong = rows.filter(({ at, day, time }) => {
        const shown = wallTime(at, timezone);
        return shown.day !== day || shown.time !== time;
      });
      expect(wrong).toEqual([]);
    },
  );

  test('isWithinHours returns true for every permitted minute of the week, and false for all other minutes', () => {
    const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
    const timeOf = (minutes: number) =>
      `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
    const hours: fc.Arbitrary<WeeklyHours> = fc
      .record({
        days: fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }),
        from: fc.integer({ min: 0, max: 1439 }).map(timeOf),
        to: fc.integer({ min: 0, max: 1440 }).map(timeOf),
      })
      .filter(({ from, to }) => from !== to);
    fc.assert(
      fc.property(
        fc.array(hours, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 7 * 1440 - 1 }),
        (list, minute) => {
          const expected = list.some(({ days, from, to }) =>
            days.some((day) => {
              const start = weekdays.indexOf(day) * 1440 + minutesOf(from);
              const length = (minutesOf(to) - minutesOf(from) + 1440) % 1440 || 1440;
              return (minute - start + 7 * 1440) % (7 * 1440) < length;
            }),
          );
          const wall = { day: Math.floor(minute / 1440), time: timeOf(minute % 1440) };
          expect(isWithinHours(list, wall)).toBe(expected);
        },
      ),
      { numRuns: 500 },
    );
  });
});
