import { describe, expect, test } from 'vitest';
import { activityOf, rhythms, staysOf, visitors } from '../../prisma/seed-activity.ts';
import { sessionState } from '../../src/parking/derive-sessions.ts';
import { groupBy } from '../../src/database/group-by.ts';
import { seedDemo } from '../support/demo.ts';
import { openTestGateway } from '../support/harness.ts';
import { plateOf } from '../support/activity.ts';

const gateway = await openTestGateway();
const { prisma } = gateway.database;

// The demo data depends on the time of its creation, and must be correct at any time of day.
const startedAt = Date.now();
const key = await seedDemo(gateway);

const ask = async (query: string, variables: Record<string, unknown> = {}) => {
  const { body } = await gateway.graph(query, { key, variables });
  expect(body.errors).toBeUndefined();
  return body.data;
};

const { locations } = await ask(
  `{ locations { nodes { id slug status { state occupied available capacity } quotas { nodes { referenceId inside used } } } } }`,
);
const locationOf = (slug: string) =>
  locations.nodes.find((location: { slug: string }) => location.slug === slug);

const decide = async (plate: string) =>
  (
    await ask(
      'query ($id: ID!, $plate: PlateInput!) { plateAccess(locationId: $id, plate: $plate) { reason entry { maxEntries entriesRecorded } } }',
      { id: locationOf('marina-gate').id, plate: plateOf(plate) },
    )
  ).plateAccess;

describe('demo data', () => {
  test('every location of the demo data has vehicles inside, and one location is nearly full', () => {
    for (const { status } of locations.nodes) expect(status.occupied).toBeGreaterThan(5);
    expect(locationOf('creek-harbour').status).toMatchObject({ state: 'AVAILABLE', available: 1 });
  });

  test('the demo data contains completed parking sessions, with their parking events, for each of the last seven days', async () => {
    const sessions = await prisma.parkingSession.findMany();
    const daysAgo = new Set(
      sessions.map(({ enteredAt }) => Math.floor((startedAt - enteredAt!.getTime()) / 86_400_000)),
    );
    // In the demo data, the oldest parking sessions began seven calendar days before the gateway started. If the
    // gateway starts soon after midnight, these oldest parking sessions can be less than seven full days (168 hours)
    // old. The test therefore expects parking sessions of each age from 0 to 6 full days, and allows older parking
    // sessions too.
    expect([...daysAgo]).toEqual(expect.arrayContaining([0, 1, 2, 3, 4, 5, 6]));
    expect(sessions.every(({ open, exitedAt }) => open === (exitedAt === null))).toBe(true);
    const ended = sessions.filter(({ open }) => !open).length;
    expect(await prisma.parkingEvent.count()).toBe(sessions.length + ended);
    expect(await prisma.parkingEvent.count({ where: { occurredAt: { gt: new Date() } } })).toBe(0);
  });

  test('no vehicle of the demo data enters twice without an exit, or leaves without an entry', () => {
    for (let hour = 0; hour < 24; hour += 1) {
      const now = Date.parse('2026-03-01T00:30:00Z') + hour * 3_600_000;
      for (const rhythm of Object.values(rhythms)) {
        const stays = staysOf({ vehicles: visitors(12, 1), rhythm, inside: 5 }, now);
        const { sessions } = activityOf('location', stays, now);
        const states = groupBy(sessions, sessionState);
        expect([...states.keys()].sort()).toEqual(['COMPLETED', 'OPEN']);
        expect(states.get('OPEN')).toHaveLength(5);
      }
    }
  });

  test('the demo data contains a full quota, a whitelist entry that was used 2 of 4 times, and an expired whitelist entry', async () => {
    expect(locationOf('marina-gate').quotas.nodes).toEqual([
      { referenceId: 'unit-0510', inside: 2, used: 2 },
    ]);
    expect(await decide('SHJ/2/90018')).toMatchObject({ reason: 'QUOTA_REACHED' });
    expect(await decide('DXB/P/4711')).toMatchObject({
      reason: 'LISTED',
      entry: { maxEntries: 4, entriesRecorded: 2 },
    });
    expect(await decide('RAK/V/9934')).toMatchObject({ reason: 'EXPIRED' });
    expect(await prisma.parkingEvent.count({ where: { decision: 'EXPIRED' } })).toBe(1);
    const inADay = new Date(startedAt + 86_400_000);
    expect(
      await prisma.whitelistEntry.count({ where: { validUntil: { gt: new Date(startedAt), lte: inADay } } }),
    ).toBe(3);
  });

  test('the number of uses of each whitelist entry in the demo data equals the number of its entry events', async () => {
    const entries = await prisma.parkingEvent.groupBy({
      by: ['whitelistEntryId'],
      where: { kind: 'ENTRY', whitelistEntryId: { not: null } },
      _count: true,
    });
    const uses = await prisma.whitelistEntryUse.findMany();
    expect(new Map(uses.map(({ entryId, recorded }) => [entryId, recorded]))).toEqual(
      new Map(entries.map(({ whitelistEntryId, _count }) => [whitelistEntryId, _count])),
    );
  });

  test('one webhook of the demo data has failed deliveries, and the API shows the delivery attempts', async () => {
    const { webhooks } = await ask(
      '{ webhooks(first: 2) { nodes { failingSince enabled deliveries(first: 5) { nodes { status attempts { httpStatus error } } } } } }',
    );
    const [{ deliveries, ...webhook }] = webhooks.nodes;
    expect(webhook).toEqual({ failingSince: expect.any(String), enabled: true });
    expect(deliveries.nodes.map(({ status }: { status: string }) => status)).toEqual([
      'FAILED',
      'FAILED',
      'DELIVERED',
    ]);
    expect(deliveries.nodes[0].attempts.length).toBeGreaterThan(1);
  });

  test('two API keys of the demo data have usage records, and one of these keys calls a deprecated route', async () => {
    const { viewer } = await ask('{ viewer { name deprecations { operation } } }');
    expect(viewer.deprecations).toEqual([]);
    const keys = await prisma.apiKey.findMany({ where: { lastUsedAt: { not: null } } });
    expect(keys.map(({ name }) => name).sort()).toEqual(['Demo', 'Residents portal']);
    const operations = await prisma.usageTotal.groupBy({ by: ['apiKeyId', 'operation'] });
    const portal = keys.find(({ name }) => name === 'Residents portal')!.id;
    expect(
      operations.filter(({ apiKeyId }) => apiKeyId === portal).map(({ operation }) => operation),
    ).toContain('GET /locations/{locationId}/residents');
  });
});
