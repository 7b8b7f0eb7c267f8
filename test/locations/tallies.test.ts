import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { openActivity } from '../support/activity.ts';
import { newEntry, openTestGateway } from '../support/harness.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const gateway = await openTestGateway({ DATABASE_POOL_SIZE: '12' });
const { sql } = gateway.database;

const run = <Row>(text: string, values: unknown[] = []) => sql.query<Row>({ name: '', text }, values);

/**
 * Returns the number of whitelist entries and the number of open parking sessions of a location. The function reads
 * each number from the table `LocationTally`. For comparison, it also counts the whitelist entries and the open parking
 * sessions. One SQL statement reads the table and counts the rows, so that all numbers come from the same database
 * snapshot.
 */
async function numbersOf(locationId: string) {
  const [numbers] = await run<Record<'entries' | 'countedEntries' | 'open' | 'countedOpen', number>>(
    `SELECT coalesce(sum(entries), 0)::int AS entries, coalesce(sum("openSessions"), 0)::int AS open,
      (SELECT count(*)::int FROM "WhitelistEntry" WHERE "locationId" = $1) AS "countedEntries",
      (SELECT count(*)::int FROM "ParkingSession" WHERE "locationId" = $1 AND open) AS "countedOpen"
    FROM "LocationTally" WHERE "locationId" = $1`,
    [locationId],
  );
  return numbers!;
}

async function expectExact(locationId: string): Promise<void> {
  const { entries, countedEntries, open, countedOpen } = await numbersOf(locationId);
  expect({ entries, open }).toEqual({ entries: countedEntries, open: countedOpen });
}

const status = async (locationId: string, key: string) =>
  (await gateway.rest('GET', `/locations/${locationId}/status`, { key })).body.data;

/** The test uses only a few plates, so that concurrent writers often use the same plate. */
const plates = Array.from({ length: 12 }, (_, index) => ({
  plateType: 'DXB',
  plateCode: 'A',
  plateNumber: String(index + 1),
}));
const plate = fc.integer({ min: 0, max: plates.length - 1 });

/** Generates one change of a location, such as a new whitelist entry or a parking event. */
const steps = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create'), plate }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), plate }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('ENTRY', 'EXIT'), plate }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('inside'), plate }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('CREATE', 'UPSERT', 'REPLACE'), plate }),
  },
);

test('the status of a location contains exact numbers while concurrent requests write to the location', async () => {
  const { locationId, key } = await gateway.newTenant();
  const { ask } = openActivity(gateway, key);
  let minutes = 0;
  const at = () => new Date(Date.parse('2026-01-05T08:00:00Z') + 60_000 * (minutes += 1)).toISOString();

  async function take(step: { kind: string; plate: number }): Promise<void> {
    const path = `/locations/${locationId}/whitelist`;
    const chosen = plates[step.plate]!;
    switch (step.kind) {
      case 'create':
        await gateway.rest('POST', path, { key, body: newEntry(chosen) });
        return;
      case 'delete': {
        const { body } = await gateway.rest('GET', `${path}?plateNumber=${chosen.plateNumber}`, { key });
        for (const { id } of body.data) await gateway.rest('DELETE', `${path}/${id}`, { key });
        return;
      }
      case 'inside':
        await ask(
          `mutation ($locationId: ID!, $plates: [PlateInput!]!, $at: DateTime) {
            setInside(locationId: $locationId, plates: $plates, at: $at) { occupied } }`,
          { locationId, plates: plates.slice(0, step.plate), at: at() },
        );
        return;
      case 'ENTRY':
      case 'EXIT':
        await ask(
          `mutation ($locationId: ID!, $input: ParkingEventInput!) {
            recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
          { locationId, input: { eventId: newId(), kind: step.kind, plate: chosen, occurredAt: at() } },
        );
        return;
      default:
        await ask(
          `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!, $mode: ImportMode) {
            importWhitelistEntries(locationId: $locationId, entries: $entries, mode: $mode) { total } }`,
          {
            locationId,
            entries: plates.slice(step.plate).map((values) => newEntry(values)),
            mode: step.kind,
          },
        );
    }
  }

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(steps, { minLength: 1, maxLength: 6 }), { minLength: 6, maxLength: 6 }),
      async (writers) => {
        let areDone = false;
        const watch = async () => {
          while (!areDone) await expectExact(locationId);
        };
        const write = async (own: (typeof writers)[number]) => {
          for (const step of own) await take(step);
        };
        const writing = Promise.all(writers.map(write)).finally(() => (areDone = true));
        await Promise.all([watch(), writing]);
        const { countedEntries, countedOpen } = await numbersOf(locationId);
        expect(await status(locationId, key)).toMatchObject({
          whitelistedVehicles: countedEntries,
          occupied: countedOpen,
        });
      },
    ),
    { numRuns: 8 },
  );
});

test("the numbers in a location's status stay unchanged when a transaction is rolled back", async () => {
  const { locationId, key } = await gateway.newTenant();
  await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: newEntry() });
  const duplicated = newEntry();
  await gateway.database.prisma
    .$transaction([
      gateway.database.prisma.whitelistEntry.create({ data: { id: newId(), locationId, ...duplicated } }),
      gateway.database.prisma.whitelistEntry.create({ data: { id: newId(), locationId, ...duplicated } }),
    ])
    .catch(() => undefined);
  await expectExact(locationId);
  expect((await status(locationId, key)).whitelistedVehicles).toBe(1);
});

test('when a location has many rows in the table LocationTally, the gateway merges the rows', async () => {
  const { locationId, key } = await gateway.newTenant();
  await run(
    `INSERT INTO "LocationTally" ("locationId", entries, "openSessions")
      SELECT $1, CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END, 0 FROM generate_series(1, 2000) i`,
    [locationId],
  );
  const rows = async () => {
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: newEntry() });
    const [found] = await run<{ count: number }>(
      'SELECT count(*)::int AS count FROM "LocationTally" WHERE "locationId" = $1',
      [locationId],
    );
    return found!.count;
  };
  await expect.poll(rows, { timeout: 60_000, interval: 0 }).toBeLessThan(1_000);
  await expectExact(locationId);
});

test.runIf(testServerUrl)(
  'when two transactions merge the counter rows of a location (LocationTally) at the same time, neither transaction waits, and the totals of the location stay exact',
  async () => {
    const { locationId, key } = await gateway.newTenant();
    const fold = 'SELECT 1 FROM fold_location_tally($1)';
    for (let row = 0; row < 5; row += 1) {
      await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: newEntry() });
    }
    await gateway.database.prisma.$transaction(async (transaction) => {
      await transaction.$queryRawUnsafe(fold, locationId);
      await run(fold, [locationId]);
      await expectExact(locationId);
    });
    await run(fold, [locationId]);
    await expectExact(locationId);
  },
);
