import { describe, expect, test } from 'vitest';
import { newId } from '../src/ids.ts';
import { newEntry, openTestGateway } from './support/harness.ts';
import { locksOf } from './support/locks.ts';
import { testServerUrl } from './support/scratch-database.ts';

// Needs locks that others hold, which the embedded database does not have.
describe.runIf(testServerUrl)('a process whose heavy work waits for locked locations', async () => {
  // Four connections for heavy work: more than each kind of it may take.
  const gateway = await openTestGateway({ DATABASE_POOL_SIZE: '12' });
  const { lock, waitingConnections } = locksOf(gateway);

  interface Place {
    key: string;
    locationId: string;
  }
  const replace = ({ key, locationId }: Place) =>
    gateway.graph(
      `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
        importWhitelistEntries(locationId: $locationId, entries: $entries, mode: REPLACE) { created } }`,
      { key, variables: { locationId, entries: [newEntry()] } },
    );
  const recordBatch = ({ key, locationId }: Place) => {
    const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7' };
    const event = { eventId: newId(), kind: 'ENTRY', plate, occurredAt: '2026-03-01T08:00:00Z' };
    return gateway.graph(
      `mutation ($locationId: ID!, $events: [ParkingEventInput!]!) {
        recordParkingEvents(locationId: $locationId, events: $events) { recorded } }`,
      { key, variables: { locationId, events: [event] } },
    );
  };

  test.each([
    ['imports', replace, 'importWhitelistEntries', { created: 1 }],
    ['batches of events', recordBatch, 'recordParkingEvents', { recorded: 1 }],
  ] as const)(
    'makes two %s of different companies at once, and leaves the other connections',
    async (...row) => {
      const [, work, field, done] = row;
      const tenants = await Promise.all(Array.from({ length: 4 }, () => gateway.newTenant()));
      const unlock = await lock(tenants.map(({ locationId }) => locationId));
      const works = Promise.all(tenants.map(work));
      await expect.poll(waitingConnections).toBe(2);
      // The heavy work of another kind has connections left.
      const other = await gateway.newTenant();
      const otherWork = work === replace ? recordBatch : replace;
      expect((await otherWork(other)).body.errors).toBeUndefined();
      expect(await waitingConnections()).toBe(2);
      await unlock();
      expect((await works).map(({ body }) => body.data[field])).toEqual(tenants.map(() => done));
    },
  );
});
