import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openActivity, plateOf, type Seen } from '../support/activity.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';
import { newId } from '../../src/ids.ts';
import { queryInTransaction } from '../../src/database/named-statement.ts';
import { quotasOfEntries, type UsedQuota } from '../../src/parking/quota-statements.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

/**
 * The plates on the whitelist, each with its reference (such as an apartment). Cameras confuse some of the plates with
 * each other.
 */
const listed = [
  ['DXB/B/7', 'unit-7'],
  ['SHJ/B/7', 'unit-7'],
  ['DXB/A/2', 'unit-7'],
  ['DXB/8/7', 'unit-8'],
  ['AUH/5/17', 'unit-8'],
] as const;

/**
 * A parking event of these tests. The field `named` refers to a whitelist entry: it is the index of the plate of this
 * entry in the array `listed`.
 */
type Event = Omit<Seen, 'entryId' | 'at'> & { eventId: string; minutes: number; named: number | undefined };

/**
 * Creates a location whose whitelist contains the plates of `listed`. For each reference on this whitelist, the quota
 * is one vehicle.
 */
async function locationWithQuotas() {
  const { key, locationId } = await gateway.newTenant();
  const ids = listed.map(() => newId());
  await prisma.whitelistEntry.createMany({
    data: listed.map(([plate, referenceId], index) => ({
      ...newEntry({ ...plateOf(plate), referenceId }),
      id: ids[index]!,
      locationId,
    })),
  });
  await prisma.quota.createMany({
    data: ['unit-7', 'unit-8'].map((referenceId) => ({
      ...{ id: newId(), locationId, referenceId, inside: 1, enforcement: 'HARD' as const },
      ...{ createdAt: new Date(), updatedAt: new Date() },
    })),
  });
  const seenOf = ({ named, minutes, ...event }: Event): Seen => ({
    ...event,
    at: new Date(Date.parse('2026-03-01T08:00:00Z') + minutes * 60_000),
    ...(named !== undefined && { entryId: ids[named]! }),
  });
  return { activity: openActivity(gateway, key), locationId, seenOf };
}

/**
 * Records parking events at a new location, either several events with one request, or each event with its own request.
 * Returns the parking events that the gateway marked as over the quota, and the audit records about exceeded quotas.
 * Each returned audit record contains the parking event, the reference (such as an apartment), and the number of
 * vehicles inside.
 */
async function quotaMarks(requests: readonly Event[][], { together }: { together: boolean }) {
  const { activity, locationId, seenOf } = await locationWithQuotas();
  for (const events of requests) {
    if (together) await activity.seeTogether(locationId, events.map(seenOf));
    else await activity.see(locationId, ...events.map(seenOf));
  }
  const marked = await prisma.parkingEvent.findMany({
    where: { locationId, overQuota: true },
    orderBy: { eventId: 'asc' },
  });
  const exceeded = await prisma.auditRecord.findMany({
    where: { locationId, action: 'quota.exceeded' },
    orderBy: { id: 'asc' },
  });
  return {
    marked: marked.map(({ eventId }) => eventId),
    exceeded: exceeded.map(({ changes }) => {
      const { used, referenceId, event } = changes as {
        used: number;
        referenceId: string;
        event: { eventId: string };
      };
      return [event.eventId, referenceId, used];
    }),
  };
}

const event = (
  eventId: string,
  kind: Event['kind'],
  plate: string,
  minutes: number,
  named?: number,
): Event => ({ eventId, kind, plate, minutes, named });

test.each<{ title: string; stored: Event[]; batch: Event[]; exceeded: [string, string, number][] }>([
  {
    title: 'an exit with a misread plate ends the session of a vehicle with a similar plate',
    stored: [event('inside', 'ENTRY', 'AUH/5/17', 0)],
    batch: [event('misread', 'EXIT', 'AUH/S/17', 1), event('next', 'ENTRY', 'DXB/8/7', 2)],
    exceeded: [],
  },
  {
    title:
      'an exit with a camera text that matches two whitelist entries ends the only session that matches this text',
    stored: [event('inside', 'ENTRY', 'SHJ/B/7', 0)],
    batch: [event('text', 'EXIT', 'B7', 1), event('next', 'ENTRY', 'DXB/A/2', 2)],
    exceeded: [],
  },
  {
    title:
      'a vehicle counts for the whitelist entry with its plate, and not for the whitelist entry whose id the gate sent',
    stored: [],
    batch: [event('named', 'ENTRY', 'DXB/B/7', 1, 4), event('next', 'ENTRY', 'DXB/A/2', 2)],
    exceeded: [['next', 'unit-7', 2]],
  },
])(
  'parking events have the same effect on a quota in one batch as in single requests: $title',
  async ({ stored, batch, exceeded }) => {
    const requests = [...stored.map((each) => [each]), batch];
    const oneByOne = await quotaMarks(requests, { together: false });
    expect(oneByOne.exceeded).toEqual(exceeded);
    expect(await quotaMarks(requests, { together: true })).toEqual(oneByOne);
  },
);

test('when no camera can confuse late plates with the plate of a later event, the gateway records the late parking events in one transaction', async () => {
  const { activity, locationId, seenOf } = await locationWithQuotas();
  await activity.see(locationId, seenOf(event('later', 'ENTRY', 'DXB/C/17', 9)));
  const batch = [
    event('one', 'ENTRY', 'AUH/5/17', 0),
    event('two', 'EXIT', 'AUH/5/17', 1),
    event('three', 'ENTRY', 'DXB/8/7', 2),
  ];
  await activity.seeTogether(locationId, batch.map(seenOf));
  const recorded = await prisma.parkingEvent.findMany({
    where: { locationId, eventId: { not: 'later' } },
    distinct: ['createdAt'],
  });
  expect(recorded).toHaveLength(1);
});

test.each([
  ['with its plate when the gateway records a batch', true, { ...plateOf('DXB/A/2'), text: null }],
  ['without its plate when the gateway records a single event', false, null],
])(
  'the list of vehicles that count towards a quota contains a vehicle inside once (%s)',
  async (_, isBatch, plate) => {
    const { activity, locationId, seenOf } = await locationWithQuotas();
    await activity.see(locationId, seenOf(event('inside', 'ENTRY', 'DXB/A/2', 0)));
    const { id, whitelistEntryId } = await prisma.parkingEvent.findFirstOrThrow({ where: { locationId } });
    const [quota] = await prisma.$transaction((transaction) =>
      queryInTransaction<UsedQuota>(transaction, quotasOfEntries, {
        ...{ locationId, entryIds: [whitelistEntryId!], isBatch, observedFrom: new Date(0) },
      }),
    );
    expect(quota!.vehicles).toEqual([{ entryId: whitelistEntryId, sessionId: id, plate }]);
  },
);

test.runIf(!testServerUrl)(
  'the embedded database uses an index to find the parking sessions of whitelist entries',
  async () => {
    const { locationId } = await locationWithQuotas();
    const plan = await gateway.database.sql.query(
      { name: '', text: `EXPLAIN (FORMAT JSON) ${quotasOfEntries.text}` },
      quotasOfEntries.values({ locationId, entryIds: [newId()], isBatch: true, observedFrom: new Date(0) }),
    );
    expect(JSON.stringify(plan)).toContain('parking_session_open_entry');
  },
);

const plates = [...listed.map(([plate]) => plate), 'AUH/S/17', 'DXB/A/9'];
const texts = ['B7', '87', 'DXBB7', 'A2', '517', 'S17', 'A9'];

test('random parking events (with similar plates, camera texts or whitelist entry ids) have the same effect on quotas in batches as in single requests', async () => {
  const anyEvent: fc.Arbitrary<Event> = fc.record({
    eventId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'),
    kind: fc.constantFrom('ENTRY', 'ENTRY', 'EXIT'),
    plate: fc.constantFrom(...plates, ...texts),
    minutes: fc.integer({ min: 0, max: 5 }),
    named: fc.option(fc.nat({ max: listed.length - 1 }), { nil: undefined, freq: 2 }),
  });
  const stored = fc.array(anyEvent, { maxLength: 6 });
  const request = fc
    .array(anyEvent, { minLength: 2, maxLength: 8 })
    .map((events) => events.map((each, index) => ({ ...each, minutes: index + 6 })));
  await fc.assert(
    fc.asyncProperty(stored, request, async (earlier, events) => {
      const requests = [...earlier.map((each) => [each]), events];
      const [batches, oneByOne] = [
        await quotaMarks(requests, { together: true }),
        await quotaMarks(requests, { together: false }),
      ];
      expect(batches).toEqual(oneByOne);
    }),
    { numRuns: 10 },
  );
});
