import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { applyMigrations } from '../../src/database/migrations.ts';
import { openDatabase } from '../../src/database/open.ts';
import { newId } from '../../src/ids.ts';
import { migrationsFolder } from '../../src/migrated-database.ts';
import { openActivity, plateOf } from '../support/activity.ts';
import { openTestGateway } from '../support/harness.ts';
import { createScratchDatabase, migrateUpTo } from '../support/scratch-database.ts';

// The tests migrate the data of an earlier release of the gateway: locations with whitelist entries, parking events and
// parking sessions. The earlier release of the gateway derived the parking sessions from the parking events.

const log = pino({ level: 'silent' });

/** The name of the first database migration after version 1.5.0 of the gateway. */
const firstAfter = '20261121222000_usage_partitions';

const at = (hours: number) => new Date(Date.parse('2026-03-01T00:00:00.000Z') + hours * 3_600_000);

type Row = Record<string, unknown>;
const rows = {
  Company: [] as Row[],
  Location: [] as Row[],
  WhitelistEntry: [] as Row[],
  ParkingEvent: [] as Row[],
  ParkingSession: [] as Row[],
};

const companyId = newId();
rows.Company.push({ id: companyId, name: 'Before', slug: 'before', address: 'Dubai' });

/** Adds a location whose whitelist contains the vehicles `DXB/A/1` to `DXB/A/6`. */
function addLocation(capacity: number | null) {
  const id = newId();
  rows.Location.push({ id, companyId, name: 'Before', slug: `before-${rows.Location.length}`, capacity });
  const entries = new Map<string, string>();
  for (const number of ['1', '2', '3', '4', '5', '6']) {
    const plate = `DXB/A/${number}`;
    entries.set(plate, newId());
    rows.WhitelistEntry.push({
      id: entries.get(plate),
      locationId: id,
      referenceId: 'unit-7',
      ...plateOf(plate),
    });
  }
  return { id, entries };
}

type Location = ReturnType<typeof addLocation>;

/** Adds a parking event in the format that the release before the migration used, and returns the id of the event. */
function addEvent(
  { id: locationId, entries }: Location,
  eventId: string,
  kind: 'ENTRY' | 'EXIT',
  plate: string,
  hours: number,
): string {
  const id = newId();
  const whitelistEntryId = entries.get(plate) ?? null;
  rows.ParkingEvent.push({
    ...{ id, locationId, eventId, kind, ...plateOf(plate), occurredAt: at(hours) },
    ...{ whitelistEntryId, listed: whitelistEntryId !== null, decision: 'LISTED' },
  });
  return id;
}

/** Adds the parking session that the given event starts. */
function addSession(startId: string, times: { enteredAt?: Date; exitedAt?: Date; open?: boolean }): void {
  const event = rows.ParkingEvent.find(({ id }) => id === startId)!;
  const { id, locationId, plateType, plateCode, plateNumber, whitelistEntryId, listed } = event;
  rows.ParkingSession.push({
    ...{ id, locationId, plateType, plateCode, plateNumber, whitelistEntryId, listed, open: false },
    ...times,
  });
}

/** No test changes the location `garage`. Each test that changes a location uses a location of its own. */
const garage = addLocation(3);
const [withPass, left, corrected, withLongestStay] = [3, 3, null, 3].map(addLocation) as [
  Location,
  Location,
  Location,
  Location,
];
for (const location of [garage, withPass, left, corrected, withLongestStay]) {
  const see = addEvent.bind(null, location);
  addSession(see('1-in', 'ENTRY', 'DXB/A/1', 8), { enteredAt: at(8), exitedAt: at(9) });
  see('1-out', 'EXIT', 'DXB/A/1', 9);
  addSession(see('2-in', 'ENTRY', 'DXB/A/2', 8), { enteredAt: at(8), open: true });
  addSession(see('3-in', 'ENTRY', 'DXB/A/3', 8), { enteredAt: at(8) });
  addSession(see('3-again', 'ENTRY', 'DXB/A/3', 10), { enteredAt: at(10), open: true });
  addSession(see('4-out', 'EXIT', 'DXB/A/4', 9), { exitedAt: at(9) });
  // The vehicle `DXB/A/5` has two entry events with the same time. The vehicle `SHJ/B/9` is not on the whitelist.
  addSession(see('5-in-a', 'ENTRY', 'DXB/A/5', 8), { enteredAt: at(8) });
  addSession(see('5-in-b', 'ENTRY', 'DXB/A/5', 8), { enteredAt: at(8), exitedAt: at(11) });
  see('5-out', 'EXIT', 'DXB/A/5', 11);
  addSession(see('9-in', 'ENTRY', 'SHJ/B/9', 8), { enteredAt: at(8), open: true });
}

/** Creates a database, applies all migrations that come before the given migration, and inserts the given rows. */
async function openDatabaseBefore(migration: string, tables: Record<string, Row[]>) {
  const scratch = await createScratchDatabase({ migrated: false });
  const database = await openDatabase({ ...scratch, log });
  await migrateUpTo(database, migration);
  for (const [table, values] of Object.entries(tables)) {
    const columns = [...new Set(values.flatMap((row) => Object.keys(row)))]
      .map((column) => `"${column}"`)
      .join(', ');
    const text = `INSERT INTO "${table}" (${columns})
      SELECT ${columns} FROM json_populate_recordset(NULL::"${table}", $1::json)`;
    await database.sql.query({ name: '', text }, [JSON.stringify(values)]);
  }
  return { scratch, database };
}

const before = await openDatabaseBefore(firstAfter, rows);
await before.database.close();

const gateway = await openTestGateway({}, { database: before.scratch });
const key = await gateway.newKey({ companyIds: [companyId] });
const { ask, see, sessions, status, change, setInside } = openActivity(gateway, key);

const asBefore = [
  'DXB/A/1 COMPLETED 03-01T08:00 03-01T09:00',
  'DXB/A/2 OPEN 03-01T08:00 -',
  'DXB/A/3 MISSED_EXIT 03-01T08:00 -',
  'DXB/A/3 OPEN 03-01T10:00 -',
  'DXB/A/4 MISSED_ENTRY - 03-01T09:00',
  'DXB/A/5 COMPLETED 03-01T08:00 03-01T11:00',
  'DXB/A/5 MISSED_EXIT 03-01T08:00 -',
  'SHJ/B/9 OPEN 03-01T08:00 -',
];

/** Reads the gateway's decision about a plate at a location. */
const decide = (locationId: string, plate: string) =>
  ask(
    `query ($locationId: ID!, $plate: PlateInput!) { plateAccess(locationId: $locationId, plate: $plate) {
      reason entry { hours { from } maxEntries entriesRecorded } checks { name passed } } }`,
    { locationId, plate: plateOf(plate) },
  );

/** For each whitelist entry of a location, returns how many times the vehicle of this entry has entered. */
async function entriesRecorded(locationId: string): Promise<number[]> {
  const { nodes } = await ask(
    'query ($locationId: ID!) { whitelist(locationId: $locationId) { nodes { entriesRecorded } } }',
    { locationId },
  );
  return nodes.map((entry: { entriesRecorded: number }) => entry.entriesRecorded);
}

describe('a database of the previous release, after the migration to this release', () => {
  test('the migration of a database from the previous release changes no parking session, location status or gate decision', async () => {
    expect(await sessions(garage.id)).toEqual(asBefore);
    expect(await status(garage.id)).toMatchObject({ occupied: 3, state: 'FULL', whitelistedVehicles: 6 });
    expect(await status(corrected.id)).toMatchObject({ occupied: 3, state: 'UNKNOWN' });
    expect(await decide(garage.id, 'DXB/A/1')).toMatchObject({
      reason: 'LISTED',
      entry: { hours: [], maxEntries: null },
      checks: ['listed', 'valid', 'hours', 'quota', 'uses'].map((name) => ({ name, passed: true })),
    });
    expect(await decide(garage.id, 'SHJ/B/9')).toMatchObject({ reason: 'NOT_LISTED', entry: null });
  });

  test('after the database migration, each whitelist entry shows how many entry events of its vehicle were recorded', async () => {
    expect(await entriesRecorded(garage.id)).toEqual([1, 1, 2, 0, 2, 0]);
    await ask(
      `mutation ($locationId: ID!, $id: ID!, $input: WhitelistEntryInput!) {
        updateWhitelistEntry(locationId: $locationId, id: $id, input: $input) { maxEntries } }`,
      {
        locationId: withPass.id,
        id: withPass.entries.get('DXB/A/1'),
        input: { referenceId: 'unit-7', ...plateOf('DXB/A/1'), maxEntries: 1 },
      },
    );
    expect(await decide(withPass.id, 'DXB/A/1')).toMatchObject({ reason: 'USED_UP' });
  });

  test('after the database migration, an exit from a full location adds the audit record location.available', async () => {
    const { id } = left;
    await see(id, { kind: 'EXIT', plate: 'DXB/A/2', at: at(12) });
    const records = await gateway.database.prisma.auditRecord.findMany({ where: { locationId: id } });
    expect(records.map(({ action }) => action).sort()).toEqual(['location.available', 'parking.exited']);
  });

  test('after the database migration, late and corrected parking events still change the parking sessions that the previous release stored', async () => {
    await see(
      corrected.id,
      { eventId: '3-out', kind: 'EXIT', plate: 'DXB/A/3', at: at(9) },
      { eventId: '1-out', kind: 'EXIT', plate: 'DXB/A/1', at: at(8.5) },
      { eventId: '5-in-a', kind: 'ENTRY', plate: 'DXB/A/6', at: at(8) },
      { eventId: '4-in', kind: 'ENTRY', plate: 'DXB/A/4', at: at(7) },
      { eventId: '9-out', kind: 'EXIT', plate: 'SHJ/8/9', at: at(12) },
    );
    expect(await sessions(corrected.id)).toEqual([
      'DXB/A/1 COMPLETED 03-01T08:00 03-01T08:30',
      'DXB/A/2 OPEN 03-01T08:00 -',
      'DXB/A/3 COMPLETED 03-01T08:00 03-01T09:00',
      'DXB/A/3 OPEN 03-01T10:00 -',
      'DXB/A/4 COMPLETED 03-01T07:00 03-01T09:00',
      'DXB/A/5 COMPLETED 03-01T08:00 03-01T11:00',
      'DXB/A/6 OPEN 03-01T08:00 -',
      'SHJ/B/9 COMPLETED 03-01T08:00 03-01T12:00',
    ]);
    expect(await entriesRecorded(corrected.id)).toEqual([1, 1, 2, 1, 1, 1]);
    expect(await setInside(corrected.id, ['DXB/A/3'], at(13))).toEqual({ occupied: 1, adjustment: 0 });
  });

  test('a maximum stay that is set after the database migration also ends parking sessions that began before the migration', async () => {
    await change(withLongestStay.id, { longestStayHours: 1 });
    expect(await sessions(withLongestStay.id)).toEqual([
      'DXB/A/1 COMPLETED 03-01T08:00 03-01T09:00',
      'DXB/A/2 UNSEEN_EXIT 03-01T08:00 -',
      'DXB/A/3 UNSEEN_EXIT 03-01T08:00 -',
      'DXB/A/3 UNSEEN_EXIT 03-01T10:00 -',
      'DXB/A/4 MISSED_ENTRY - 03-01T09:00',
      'DXB/A/5 COMPLETED 03-01T08:00 03-01T11:00',
      'DXB/A/5 MISSED_EXIT 03-01T08:00 -',
      'SHJ/B/9 UNSEEN_EXIT 03-01T08:00 -',
    ]);
    expect(await status(withLongestStay.id)).toMatchObject({ occupied: 0, state: 'AVAILABLE' });
  });
});

test('a second run of the database migration does not count entry events again', async () => {
  const counted = (number: string, recorded: number) => ({
    entryId: garage.entries.get(`DXB/A/${number}`),
    recorded,
  });
  const { scratch, database } = await openDatabaseBefore('20261122022500_entries_recorded_before', {
    ...rows,
    // For whitelist entry 1, the stored number of uses equals the number of entry events. For whitelist entry 2, the
    // stored number of uses is larger than the number of entry events, because the gateway removes old parking events.
    // For whitelist entry 3, the stored number of uses is smaller than the number of entry events.
    WhitelistEntryUse: [counted('1', 1), counted('2', 7), counted('3', 1)],
  });
  onTestFinished(async () => {
    await database.close();
    await scratch.drop();
  });
  await applyMigrations(database, log, migrationsFolder);
  const { prisma } = database;
  const recorded = (number: string) =>
    prisma.whitelistEntryUse.findUnique({ where: { entryId: garage.entries.get(`DXB/A/${number}`)! } });
  expect(await Promise.all(['1', '2', '3', '4'].map(recorded))).toMatchObject([
    { recorded: 1 },
    { recorded: 7 },
    { recorded: 2 },
    null,
  ]);
});
