import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { openActivity, plateOf } from '../support/activity.ts';
import { sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

const at = (minutes: number) => new Date(Date.parse('2026-03-01T08:00:00Z') + minutes * 60_000);

/**
 * Creates a location whose whitelist contains the plate `DXB/A/1` with the reference unit-7 (an apartment). The
 * references unit-7 and unit-8 (two apartments) each have a quota of one vehicle inside. Returns functions that change
 * the whitelist, and functions that record which vehicles enter, leave or are inside.
 */
async function unitWithQuota() {
  const { key, locationId } = await gateway.newTenant();
  const activity = openActivity(gateway, key);
  const { ask } = activity;
  const create = async (plate: string, referenceId = 'unit-7') => {
    const { id } = await ask(
      `mutation ($locationId: ID!, $input: WhitelistEntryInput!) {
        createWhitelistEntry(locationId: $locationId, input: $input) { id } }`,
      { locationId, input: { referenceId, ...plateOf(plate) } },
    );
    return id as string;
  };
  for (const referenceId of ['unit-7', 'unit-8']) {
    await ask(
      `mutation ($locationId: ID!, $referenceId: String!) {
        setQuota(locationId: $locationId, referenceId: $referenceId, inside: 1) { inside } }`,
      { locationId, referenceId },
    );
  }
  await create('DXB/A/1');
  return {
    key,
    locationId,
    ask,
    create,
    enter: (plate: string, fields: { plateType?: string; entryId?: string; eventId?: string } = {}) =>
      activity.see(locationId, { kind: 'ENTRY', plate, at: at(0), ...fields }),
    leave: (plate: string) => activity.see(locationId, { kind: 'EXIT', plate, at: at(1) }),
    count: (...plates: string[]) => activity.setInside(locationId, plates, at(2)),
    remove: (id: string) => activity.unlist(locationId, id),
    change: (id: string, plate: string, referenceId: string) =>
      ask(
        `mutation ($locationId: ID!, $id: ID!, $input: WhitelistEntryInput!) {
          updateWhitelistEntry(locationId: $locationId, id: $id, input: $input) { id } }`,
        { locationId, id, input: { referenceId, ...plateOf(plate) } },
      ),
    replace: (...plates: string[]) =>
      ask(
        `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
          importWhitelistEntries(locationId: $locationId, entries: $entries, mode: REPLACE) { rejected } }`,
        {
          locationId,
          entries: ['DXB/A/1', ...plates].map((plate) => ({ referenceId: 'unit-7', ...plateOf(plate) })),
        },
      ),
    /**
     * Returns how many vehicles count towards each quota, and the reason of the gate decision about the plate
     * `DXB/A/1`.
     */
    async quotas() {
      const { quotas } = (
        await gateway.graph(
          `query ($id: ID!) { location(id: $id) { quotas { nodes { referenceId used } } } }`,
          { key, variables: { id: locationId } },
        )
      ).body.data.location;
      const { reason } = await ask(
        `query ($locationId: ID!, $plate: PlateInput!) {
          plateAccess(locationId: $locationId, plate: $plate) { reason } }`,
        { locationId, plate: plateOf('DXB/A/1') },
      );
      const [seven, eight] = ['unit-7', 'unit-8'].map(
        (referenceId) =>
          quotas.nodes.find((quota: { referenceId: string }) => quota.referenceId === referenceId).used,
      );
      return { seven, eight, reason };
    },
    /** Records that a vehicle enters the location, and returns whether the vehicle exceeds the quota. */
    async isOver(plate: string, fields: { eventId?: string } = {}) {
      const input = {
        eventId: newId(),
        kind: 'ENTRY',
        plate: plateOf(plate),
        occurredAt: at(5).toISOString(),
        ...fields,
      };
      const { overQuota } = await ask(
        `mutation ($locationId: ID!, $input: ParkingEventInput!) {
          recordParkingEvent(locationId: $locationId, input: $input) { overQuota } }`,
        { locationId, input },
      );
      return overQuota as boolean;
    },
  };
}

type Unit = Awaited<ReturnType<typeof unitWithQuota>>;

const inUnit7 = { seven: 1, eight: 0, reason: 'QUOTA_REACHED' };
const inUnit8 = { seven: 0, eight: 1, reason: 'LISTED' };
const inNone = { seven: 0, eight: 0, reason: 'LISTED' };

describe('vehicles that a quota counts when the whitelist changes', () => {
  test.each<{ title: string; steps: (unit: Unit) => Promise<unknown>; quotas: typeof inUnit7 }>([
    {
      title: 'a vehicle that entered before its whitelist entry was created counts',
      async steps({ enter, create }) {
        await enter('DXB/A/2');
        await create('DXB/A/2');
      },
      quotas: inUnit7,
    },
    {
      title: 'a vehicle whose whitelist entry was deleted and created again counts',
      async steps({ enter, create, remove }) {
        const id = await create('DXB/A/2');
        await enter('DXB/A/2');
        await remove(id);
        await create('DXB/A/2');
      },
      quotas: inUnit7,
    },
    {
      title: 'a vehicle whose whitelist entry was deleted and restored by an import counts',
      async steps({ enter, create, replace }) {
        await create('DXB/A/2');
        await enter('DXB/A/2');
        await replace();
        await replace('DXB/A/2');
      },
      quotas: inUnit7,
    },
    {
      title: 'a vehicle whose whitelist entry was deleted does not count',
      async steps({ enter, create, remove }) {
        const id = await create('DXB/A/2');
        await enter('DXB/A/2');
        await remove(id);
      },
      quotas: inNone,
    },
    {
      title:
        'a vehicle whose whitelist entry now has another reference counts towards the quota of that reference',
      async steps({ enter, create, change }) {
        const id = await create('DXB/A/2');
        await enter('DXB/A/2');
        await change(id, 'DXB/A/2', 'unit-8');
      },
      quotas: inUnit8,
    },
    {
      title:
        'a vehicle whose whitelist entry was created again for another reference counts towards the quota of that reference',
      async steps({ enter, create, remove }) {
        const id = await create('DXB/A/2');
        await enter('DXB/A/2');
        await remove(id);
        await create('DXB/A/2', 'unit-8');
      },
      quotas: inUnit8,
    },
    {
      title: 'a vehicle whose whitelist entry now has another plate does not count',
      async steps({ enter, create, change }) {
        const id = await create('DXB/A/2');
        await enter('DXB/A/2');
        await change(id, 'DXB/A/3', 'unit-7');
      },
      quotas: inNone,
    },
    {
      title: 'a vehicle that setInside counted before its whitelist entry was created counts',
      async steps({ count, create }) {
        await count('DXB/A/2');
        await create('DXB/A/2');
      },
      quotas: inUnit7,
    },
    {
      title: 'a vehicle counts when it entered with a camera text before its whitelist entry was created',
      async steps({ enter, create }) {
        await enter('a 2');
        await create('DXB/A/2');
      },
      quotas: inUnit7,
    },
    {
      title:
        'a vehicle counts when it entered with a camera text and a plate type before its whitelist entry was created',
      async steps({ enter, create }) {
        await enter('DXB a 2', { plateType: 'DXB' });
        await create('SHJ/A/2');
        await create('DXB/A/2', 'unit-8');
      },
      quotas: inUnit8,
    },
    {
      title: 'a vehicle whose camera text matches several whitelist entries does not count',
      async steps({ enter, create }) {
        await enter('a 2');
        await create('DXB/A/2');
        await create('SHJ/A/2', 'unit-8');
      },
      quotas: inNone,
    },
    {
      title: 'a vehicle that was admitted with a tolerance for similar characters counts',
      async steps({ enter, create }) {
        const entryId = await create('DXB/B/2');
        await enter('DXB/8/2', { entryId });
      },
      quotas: inUnit7,
    },
    {
      title:
        'a vehicle that was admitted because of a similar plate counts for a later whitelist entry with its exact plate',
      async steps({ enter, create }) {
        const entryId = await create('DXB/B/2');
        await enter('DXB/8/2', { entryId });
        await create('DXB/8/2', 'unit-8');
      },
      quotas: inUnit8,
    },
    {
      title: 'a vehicle that has left does not count',
      async steps({ enter, leave, create }) {
        await enter('DXB/A/2');
        await leave('DXB/A/2');
        await create('DXB/A/2');
      },
      quotas: inNone,
    },
  ])('a quota counts vehicles according to the current whitelist: $title', async ({ steps, quotas }) => {
    const unit = await unitWithQuota();
    await steps(unit);
    expect(await unit.quotas()).toEqual(quotas);
    expect(await unit.isOver('DXB/A/1')).toBe(quotas.seven > 0);
  });

  test('when an entry event arrives late, its quota check counts the vehicles that are inside at the time of the arrival', async () => {
    const { enter, leave, create, isOver, locationId } = await unitWithQuota();
    await create('DXB/A/2');
    await leave('DXB/A/1');
    await enter('DXB/A/2');
    expect(await isOver('DXB/A/1', { eventId: 'late' })).toBe(true);
    await leave('DXB/A/2');
    const event = await gateway.database.prisma.parkingEvent.findFirst({
      where: { locationId, eventId: 'late' },
    });
    expect(event).toMatchObject({ overQuota: true });
  });

  test('when an entry event is corrected to another plate, the wrong plate no longer counts towards a quota', async () => {
    const { enter, create, isOver } = await unitWithQuota();
    await enter('DXB/A/2', { eventId: 'one' });
    await create('DXB/A/2');
    expect(await isOver('DXB/A/1', { eventId: 'one' })).toBe(false);
    expect(await isOver('DXB/A/2')).toBe(true);
  });
});
