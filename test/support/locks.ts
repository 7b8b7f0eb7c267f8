import pg from 'pg';
import { afterEach, onTestFinished, vi } from 'vitest';
import { newId } from '../../src/ids.ts';
import { slotLimits } from '../../src/scheduling/limits.ts';
import type { TestGateway } from './harness.ts';

/**
 * Creates functions that lock rows and tables in the PostgreSQL database of a test gateway. When a test ends, all locks
 * that still exist are released.
 */
export function locksOf({ config }: TestGateway) {
  const clients: pg.Client[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end()));
  });

  async function connectToDatabase(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: config.databaseUrl });
    clients.push(client);
    await client.connect();
    return client;
  }

  return {
    /** Locks the rows of locations, as a new parking event does, and returns a function that releases the locks. */
    async lock(locationIds: readonly string[]): Promise<() => Promise<unknown>> {
      const client = await connectToDatabase();
      await client.query('BEGIN');
      await client.query('SELECT FROM "Location" WHERE id = ANY($1) FOR NO KEY UPDATE', [locationIds]);
      return () => client.query('COMMIT');
    },

    /** Locks a whitelist entry, and returns a function that releases the lock. */
    async lockEntry(id: string): Promise<() => Promise<unknown>> {
      const client = await connectToDatabase();
      await client.query('BEGIN');
      await client.query('SELECT FROM "WhitelistEntry" WHERE id = $1 FOR UPDATE', [id]);
      return () => client.query('COMMIT');
    },

    /**
     * Adds a whitelist entry with the given plate in an open transaction, and returns a function that commits the
     * transaction.
     */
    async writePlate(locationId: string, plate: Record<string, unknown>): Promise<() => Promise<unknown>> {
      const client = await connectToDatabase();
      const { plateType, plateCode, plateNumber } = plate;
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber")
         VALUES ($1, $2, 'r', $3, $4, $5)`,
        [newId(), locationId, plateType, plateCode, plateNumber],
      );
      return () => client.query('COMMIT');
    },

    /** Locks a table in the same way as ALTER TABLE, and returns a function that unlocks the table. */
    async lockTable(table: string): Promise<() => Promise<unknown>> {
      const client = await connectToDatabase();
      await client.query(`BEGIN; LOCK TABLE "${table}"`);
      return () => client.query('COMMIT');
    },

    /** Returns how many database connections wait for a lock in an SQL statement that contains the given text. */
    async waitingConnections(textOfStatement = ''): Promise<number> {
      const client = await connectToDatabase();
      const { rows } = await client.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND position($1 IN query) > 0`,
        [textOfStatement],
      );
      // Tests call `waitingConnections` often, so `waitingConnections` closes its database connection at once.
      clients.splice(clients.indexOf(client), 1);
      await client.end();
      return rows[0]!.count;
    },
  };
}

const waitingLimits: { maxMs: number } = slotLimits.locationChanges.waiting;
const { maxMs: usualMaxMs } = waitingLimits;

/** Sets the maximum time that a change of a location may wait for earlier changes, until the end of the test. */
export function setMaxWaitMs(maxMs: number): void {
  waitingLimits.maxMs = maxMs;
  onTestFinished(() => void (waitingLimits.maxMs = usualMaxMs));
}

/**
 * Until the end of the test, allows changes of a location to wait 10 minutes for earlier changes, so that the gateway
 * refuses no change on a slow machine.
 *
 * @returns a function that returns how many changes have begun to wait since the call of `letChangesWait`
 */
export function letChangesWait(): () => number {
  const longWaitMs = 600_001;
  setMaxWaitMs(longWaitMs);
  const timers = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => timers.mockRestore());
  return () => timers.mock.calls.filter(([, ms]) => ms === longWaitMs).length;
}
