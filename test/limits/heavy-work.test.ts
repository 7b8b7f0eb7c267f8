import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { type Answer, newEntry, openTestGateway } from '../support/harness.ts';
import { locksOf } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';

// These tests need PostgreSQL, because a second database connection must lock rows and tables. The embedded database
// has only one connection.
describe.runIf(testServerUrl)(
  'heavy requests while another database connection locks locations or a table',
  async () => {
    // With a pool of 12 database connections, all heavy requests together may use four of these connections. Each kind
    // of heavy request, such as imports, may use only two database connections.
    const gateway = await openTestGateway({ DATABASE_POOL_SIZE: '12' });
    const { lock, lockTable, waitingConnections } = locksOf(gateway);

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

    /**
     * Sends a request with the header Content-Length, which tells the gateway the size of the request body in advance.
     * The gateway limits how many large bodies it processes at the same time.
     */
    const send = (key: string, query: string, variables: Record<string, unknown>) => {
      const length = Buffer.byteLength(JSON.stringify({ query, variables }));
      return gateway.graph(query, { key, variables, headers: { 'Content-Length': String(length) } });
    };
    /** Sends an import whose request body is larger than 1 MiB. */
    const importMany = ({ key, locationId }: Place) => {
      const entries = Array.from({ length: 2_500 }, () => newEntry({ note: 'n'.repeat(500) }));
      return send(
        key,
        `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
        importWhitelistEntries(locationId: $locationId, entries: $entries) { created } }`,
        { locationId, entries },
      );
    };
    const newTenants = (count: number) =>
      Promise.all(Array.from({ length: count }, () => gateway.newTenant()));

    test('a large import finishes while imports of other companies wait for locked locations', async () => {
      const tenants = await newTenants(3);
      const unlock = await lock(tenants.map(({ locationId }) => locationId));
      const works = Promise.all([importMany(tenants[0]!), importMany(tenants[1]!), replace(tenants[2]!)]);
      await expect.poll(waitingConnections).toBe(2);
      const { body } = await importMany(await gateway.newTenant());
      expect(body).toEqual({ data: { importWhitelistEntries: { created: 2_500 } } });
      await unlock();
      await works;
    });

    test('while large imports of two companies wait for locked locations, the gateway answers requests of a third company', async () => {
      const tenants = await newTenants(2);
      const unlock = await lock(tenants.map(({ locationId }) => locationId));
      const works = Promise.all(tenants.map(importMany));
      await expect.poll(waitingConnections).toBe(2);
      const { key, locationId } = await gateway.newTenant();
      const query = 'query ($id: ID!) { whitelist(locationId: $id) { totalCount } }';
      for (const bytes of [100_000, 2_000_000]) {
        const others = Array(bytes / 10_000).fill('x'.repeat(10_000));
        const { body } = await send(key, query, { id: locationId, others });
        expect(body).toEqual({ data: { whitelist: { totalCount: 0 } } });
      }
      expect(await waitingConnections()).toBe(2);
      await unlock();
      await works;
    });

    test('while queries of two companies wait for a locked table, a third company can read another table', async () => {
      const ask = (field: string, { key, locationId }: Place) =>
        gateway.graph(
          `query ($id: ID!) { a: ${field}(locationId: $id, first: 100) { nodes { id locationId plateType plateCode plateNumber } } }`,
          { key, variables: { id: locationId } },
        );
      const tenants = await newTenants(2);
      const unlock = await lockTable('ParkingEvent');
      const works: ReturnType<typeof ask>[] = [];
      for (const tenant of tenants) {
        works.push(ask('parkingEvents', tenant));
        // The test starts one query after the other, because queries that start together share one SQL statement.
        await expect.poll(waitingConnections).toBe(works.length);
      }
      const { body } = await ask('whitelist', await gateway.newTenant());
      expect(body).toEqual({ data: { a: { nodes: [] } } });
      expect(await waitingConnections()).toBe(2);
      await unlock();
      for (const { body } of await Promise.all(works)) expect(body).toEqual({ data: { a: { nodes: [] } } });
    });

    test('the gateway runs the usage queries of one API key one at a time, because their results can be large', async () => {
      const [one, another] = [await gateway.newTenant(), await gateway.newTenant()];
      const unlock = await lockTable('UsageTotal');
      const works: Promise<Answer>[] = [];
      const ask = ({ key }: Place) => works.push(gateway.graph('{ viewer { usage { hour } } }', { key }));
      // While the table `UsageTotal` is locked, the usage queries of the test wait, and writes to the table wait, too.
      // The function `waitingQuestions` counts only the waiting usage queries, because only usage queries contain the
      // SQL text `AS refused`.
      const waitingQuestions = () => waitingConnections('AS refused');
      ask(one);
      await expect.poll(waitingQuestions).toBe(1);
      ask(one);
      ask(another);
      await expect.poll(waitingQuestions).toBe(2);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await waitingQuestions()).toBe(2);
      await unlock();
      expect((await Promise.all(works)).map(({ body }) => body.errors)).toEqual(Array(3).fill(undefined));
    });

    test.each([
      ['imports', replace, 'importWhitelistEntries', { created: 1 }],
      ['batches of events', recordBatch, 'recordParkingEvents', { recorded: 1 }],
    ] as const)(
      'at most two %s run at the same time, even for different companies, so that further database connections stay free',
      async (...row) => {
        const [, work, field, done] = row;
        const tenants = await Promise.all(Array.from({ length: 4 }, () => gateway.newTenant()));
        const unlock = await lock(tenants.map(({ locationId }) => locationId));
        const works = Promise.all(tenants.map(work));
        await expect.poll(waitingConnections).toBe(2);
        // While imports wait, a batch of parking events can still get a database connection. While batches of parking
        // events wait, an import can still get a database connection.
        const other = await gateway.newTenant();
        const otherWork = work === replace ? recordBatch : replace;
        expect((await otherWork(other)).body.errors).toBeUndefined();
        expect(await waitingConnections()).toBe(2);
        await unlock();
        expect((await works).map(({ body }) => body.data[field])).toEqual(tenants.map(() => done));
      },
    );
  },
);
