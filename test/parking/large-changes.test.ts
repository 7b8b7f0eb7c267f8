import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Answer, sharedTestGateway } from '../support/harness.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const vehicles = 2_000;

// On the embedded database, a gate decision in the middle of a heavy transaction sees the uncommitted changes of the
// transaction. The test can therefore see how far the transaction is. A PostgreSQL server does not show uncommitted
// changes, and its gate decisions use other connections.
describe.skipIf(testServerUrl)(
  `on the embedded database, gate decisions run in the middle of a change of ${vehicles} parking sessions`,
  async () => {
    const gateway = await sharedTestGateway();
    const { key, locationId } = await gateway.newTenant();
    const plates = Array.from({ length: vehicles }, (_, index) => ({
      plateType: 'DXB',
      plateCode: 'A',
      plateNumber: String(index),
    }));
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

    const setInside = (inside: typeof plates, at: Date) =>
      gateway.graph(
        `mutation ($id: ID!, $plates: [PlateInput!]!, $at: DateTime) {
          setInside(locationId: $id, plates: $plates, at: $at) { occupied } }`,
        { key, variables: { id: locationId, plates: inside, at } },
      );
    const setMaximumStay = (hours: number) =>
      gateway.graph(
        `mutation ($id: ID!, $hours: Int) {
          updateLocation(id: $id, input: { longestStayHours: $hours }) { longestStayHours } }`,
        { key, variables: { id: locationId, hours } },
      );

    /** Reads the progress of a change over the database client of the gate decisions. */
    async function progress(): Promise<string> {
      const [row] = await gateway.database.gates.sql.query<object>(
        {
          name: '',
          text: `SELECT count(*)::int AS all, count(*) FILTER (WHERE corrected)::int AS corrected,
              count(DISTINCT "staysUntil")::int AS ends, count(*) FILTER (WHERE open)::int AS open
            FROM "ParkingSession" WHERE "locationId" = $1`,
        },
        [locationId],
      );
      return JSON.stringify(row);
    }

    test.each<[string, () => Promise<Answer>]>([
      ['an occupancy count of all vehicles', () => setInside(plates, hoursAgo(10))],
      ['a maximum stay that ends the sessions', () => setMaximumStay(1)],
      ['a maximum stay that opens the sessions again', () => setMaximumStay(100)],
      ['an occupancy count of no vehicles', () => setInside([], hoursAgo(5))],
    ])('%s', async (_, change) => {
      let isRunning = true;
      const changed = change().finally(() => (isRunning = false));
      const seen = new Set<string>();
      while (isRunning) {
        seen.add(await progress());
        await sleep(5);
      }
      expect((await changed).body.errors).toBeUndefined();
      // Besides the states before and after the change, the gates have seen a state in the middle of the change.
      expect(seen.size).toBeGreaterThan(2);
    });
  },
);
