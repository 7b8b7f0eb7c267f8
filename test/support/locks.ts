import pg from 'pg';
import { afterEach } from 'vitest';
import type { TestGateway } from './harness.ts';

/** Functions that lock rows and tables in the PostgreSQL of a test gateway. The locks end with the test. */
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
    /** Locks locations as an event does, and returns a function that unlocks the locations. */
    async lock(locationIds: readonly string[]): Promise<() => Promise<unknown>> {
      const client = await connectToDatabase();
      await client.query('BEGIN');
      await client.query('SELECT FROM "Location" WHERE id = ANY($1) FOR NO KEY UPDATE', [locationIds]);
      return () => client.query('COMMIT');
    },

    /** Locks a table as ALTER TABLE does, and returns the function that unlocks it. */
    async lockTable(table: string): Promise<() => Promise<unknown>> {
      const client = await connectToDatabase();
      await client.query(`BEGIN; LOCK TABLE "${table}"`);
      return () => client.query('COMMIT');
    },

    /** The number of connections that wait for a lock. With a text, only statements that contain the text count. */
    async waitingConnections(textOfStatement = ''): Promise<number> {
      const client = await connectToDatabase();
      const { rows } = await client.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND position($1 IN query) > 0`,
        [textOfStatement],
      );
      // Tests repeat the query until the expected number of connections waits for a lock.
      clients.splice(clients.indexOf(client), 1);
      await client.end();
      return rows[0]!.count;
    },
  };
}
