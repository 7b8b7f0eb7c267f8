import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { plateOf } from '../support/activity.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';
import { locksOf } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

const occurredAt = '2026-03-01T08:00:00.000Z';

type Input = Record<string, unknown>;

/**
 * Functions that send one parking event, alone or as a batch of one event, and expect that the gateway accepts the
 * event.
 */
const ways = {
  async recordParkingEvent(key: string, locationId: string, input: Input) {
    const { body } = await gateway.graph(
      `mutation ($locationId: ID!, $input: ParkingEventInput!) {
        recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
      { key, variables: { locationId, input } },
    );
    expect(body.errors).toBeUndefined();
  },
  async recordParkingEvents(key: string, locationId: string, input: Input) {
    const { body } = await gateway.graph(
      `mutation ($locationId: ID!, $events: [ParkingEventInput!]!) {
        recordParkingEvents(locationId: $locationId, events: $events) { rejected } }`,
      { key, variables: { locationId, events: [input] } },
    );
    expect(body).toEqual({ data: { recordParkingEvents: { rejected: 0 } } });
  },
};

/**
 * Creates a location with a whitelist entry for the plate `DXB/A/7`. Returns functions that read the location's parking
 * events and count its audit records.
 */
async function gateWithEntry() {
  const { key, companyId, locationId } = await gateway.newTenant();
  const list = async (at: string, plate: string) => {
    const { id } = await prisma.whitelistEntry.create({
      data: { ...newEntry(plateOf(plate)), id: newId(), locationId: at },
    });
    return id;
  };
  const elsewhere = await gateway.newLocation(companyId);
  const unlist = await list(locationId, 'DXB/A/8');
  await prisma.whitelistEntry.delete({ where: { id: unlist } });
  return {
    key,
    locationId,
    entryId: await list(locationId, 'DXB/A/7'),
    list: (plate: string) => list(locationId, plate),
    absent: {
      unknown: newId(),
      deleted: unlist,
      foreign: await list(elsewhere, 'DXB/A/9'),
      malformed: 'gate-7\u0000',
      empty: '',
    },
    event: (eventId: string) =>
      prisma.parkingEvent.findFirstOrThrow({
        where: { locationId, eventId },
        omit: { id: true, createdAt: true, updatedAt: true },
      }),
    changes: () => prisma.auditRecord.count({ where: { locationId } }),
  };
}

const readings = {
  'a plate': { plate: plateOf('DXB/A/7') },
  'an unlisted plate': { plate: plateOf('DXB/A/70') },
  'a text': { reading: { text: 'DXB A 7' } },
  'a text with a type': { reading: { text: 'A 7', plateType: 'DXB' } },
  'an unlisted text': { reading: { text: 'A 70' } },
};

describe.each(Object.keys(ways) as (keyof typeof ways)[])('the mutation %s with an entryId', (way) => {
  const record = ways[way];

  test.each(Object.entries(readings))(
    'the gateway ignores an entryId that is unknown at the location, and identifies the vehicle by %s',
    async (_, read) => {
      const { key, locationId, absent, event, changes } = await gateWithEntry();
      for (const kind of ['ENTRY', 'EXIT']) {
        await record(key, locationId, { eventId: `${kind} alone`, kind, occurredAt, ...read });
        const { eventId: __, ...expected } = await event(`${kind} alone`);
        for (const [name, entryId] of Object.entries(absent)) {
          const input = { eventId: `${kind} ${name}`, kind, occurredAt, entryId, ...read };
          await record(key, locationId, input);
          const { eventId: ___, ...recorded } = await event(input.eventId);
          expect(recorded, name).toEqual(expected);
          const before = await changes();
          await record(key, locationId, input);
          await record(key, locationId, { ...input, entryId: undefined });
          expect(await changes(), `a resend with the ${name} entry`).toBe(before);
        }
      }
    },
  );

  test('when a gate sends a parking event again after the whitelist entry of the event was deleted, the recorded event stays unchanged', async () => {
    const { key, locationId, entryId, event, changes } = await gateWithEntry();
    const named = { eventId: 'named', kind: 'ENTRY', occurredAt, entryId, plate: plateOf('SHJ/A/7') };
    const read = {
      ...named,
      eventId: 'read',
      plate: undefined,
      reading: { text: 'A 1', plateType: 'SHJ' },
    };
    for (const input of [named, read]) await record(key, locationId, input);
    expect(await event('read')).toMatchObject({
      plateType: 'DXB',
      plateNumber: '7',
      whitelistEntryId: entryId,
    });
    await prisma.whitelistEntry.delete({ where: { id: entryId } });
    const before = await changes();
    for (const input of [named, read]) await record(key, locationId, input);
    expect(await changes()).toBe(before);
    // The gate sends the parking event again with a corrected time. The whitelist entry no longer exists, so the
    // corrected event gets the plate that the gate sent.
    await record(key, locationId, { ...named, occurredAt: '2026-03-01T08:01:00.000Z' });
    expect(await event('named')).toMatchObject({ plateType: 'SHJ', whitelistEntryId: null, listed: false });
  });

  test('when a gate sends a parking event again, but with the id of another whitelist entry, the gateway corrects the recorded event', async () => {
    const { key, locationId, entryId, list, event } = await gateWithEntry();
    const other = await list('DXB/A/1');
    const input = { eventId: 'one', kind: 'ENTRY', occurredAt, plate: plateOf('DXB/A/7') };
    await record(key, locationId, input);
    expect(await event('one')).toMatchObject({ whitelistEntryId: entryId, listed: true });
    await record(key, locationId, { ...input, entryId: other });
    expect(await event('one')).toMatchObject({ whitelistEntryId: other, listed: true });
  });
});

describe.runIf(testServerUrl)('a whitelist entry that is deleted while its vehicle enters', () => {
  const { lockTable, waitingConnections } = locksOf(gateway);

  test('when a whitelist entry is deleted while its vehicle enters, the gateway deletes the entry and records the event without a deadlock', async () => {
    const { key, locationId } = await gateway.newTenant();
    const created = await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry(plateOf('DXB/A/7')),
    });
    const { id } = created.body.data;
    await prisma.whitelistEntry.update({ where: { id }, data: { maxEntries: 10 } });
    const input = () => ({ eventId: newId(), kind: 'ENTRY', plate: plateOf('DXB/A/7'), occurredAt });
    await ways.recordParkingEvent(key, locationId, input());
    // The `DELETE` request locks the whitelist entry, and then waits for the table `WhitelistChange`, which the test
    // has locked.
    const unlock = await lockTable('WhitelistChange');
    const deletion = gateway.rest('DELETE', `/locations/${locationId}/whitelist/${id}`, { key });
    await expect.poll(() => waitingConnections()).toBe(1);
    const event = ways.recordParkingEvent(key, locationId, input());
    await expect.poll(() => waitingConnections()).toBe(2);
    await unlock();
    await event;
    expect((await deletion).status).toBe(200);
  });
});
