import pg from 'pg';
import { afterEach, onTestFinished, vi } from 'vitest';
import { newId } from '../../src/ids.ts';
import { slotLimits } from '../../src/scheduling/limits.ts';
import type { newEntry, TestGateway } from './harness.ts';

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

  /** Runs a statement in a new transaction, and returns a function that commits the transaction. */
  async function openTransaction(text: string, values: unknown[] = []): Promise<() => Promise<unknown>> {
    const client = await connectToDatabase();
    await client.query('BEGIN');
    await client.query(text, values);
    return () => client.query('COMMIT');
  }

  return {
    openTransaction,

    /** Locks the rows of locations, as a new parking event does, and returns a function that releases the locks. */
    lock: (locationIds: readonly string[]) =>
      openTransaction('SELECT FROM "Location" WHERE id = ANY($1) FOR NO KEY UPDATE', [locationIds]),

    /** Locks a whitelist entry in the database, and returns a function that releases the lock. */
    lockEntry: (id: string) => openTransaction('SELECT FROM "WhitelistEntry" WHERE id = $1 FOR UPDATE', [id]),

    /**
     * Adds a whitelist entry with the given plate in a transaction that stays open, and returns a function that commits
     * this transaction.
     */
    writePlate: (locationId: string, { plateType, plateCode, plateNumber }: ReturnType<typeof newEntry>) =>
      openTransaction(
        `INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber")
         VALUES ($1, $2, 'r', $3, $4, $5)`,
        [newId(), locationId, plateType, plateCode, plateNumber],
      ),

    /** Locks a table in the same way as ALTER TABLE, and returns a function that unlocks the table. */
    lockTable: (table: string) => openTransaction(`LOCK TABLE "${table}"`),

    /**
     * Returns the number of database connections that wait for a lock while they run an SQL statement with the given
     * text.
     */
    async waitingConnections(textOfStatement = ''): Promise<number> {
      const client = await connectToDatabase();
      const { rows } = await client.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND position($1 IN query) > 0`,
        [textOfStatement],
      );
      // Tests call `waitingConnections` again and again. To keep few connections open, each call closes the database
      // connection that it opened.
      clients.splice(clients.indexOf(client), 1);
      await client.end();
      return rows[0]!.count;
    },
  };
}

const waitingLimits: { maxMs: number } = slotLimits.locationChanges.waiting;
const { maxMs: usualMaxMs } = waitingLimits;

/**
 * Until the end of the test, a change at a location waits at most `maxMs` milliseconds for earlier changes at the same
 * location.
 */
export function setMaxWaitMs(maxMs: number): void {
  waitingLimits.maxMs = maxMs;
  onTestFinished(() => void (waitingLimits.maxMs = usualMaxMs));
}

/**
 * In the rest of the test, the gateway lets a change wait up to 10 minutes for earlier changes at the same location.
 * The gateway therefore does not reject a waiting change, even on a slow machine.
 *
 * @returns a function that returns how many changes have had to wait since the call of `letChangesWait`
 */
export function letChangesWait(): () => number {
  const longWaitMs = 600_001;
  setMaxWaitMs(longWaitMs);
  const timers = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => timers.mockRestore());
  return () => timers.mock.calls.filter(([, ms]) => ms === longWaitMs).length;
}
