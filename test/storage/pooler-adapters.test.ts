import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { PoolerAdapters } from '../../src/database/pooler-adapters.ts';
import { testServerUrl } from '../support/scratch-database.ts';

describe.runIf(testServerUrl)('transactions through a pooler', async () => {
  if (testServerUrl === undefined) return; // Vitest calls describe callbacks of skipped tests, too
  const pool = new pg.Pool({
    connectionString: testServerUrl,
    max: 1,
    connectionTimeoutMillis: 10_000,
    query_timeout: 500,
  });
  pool.on('error', () => undefined); // the second test closes the connection of the pool
  const adapter = await new PoolerAdapters(pool).connect();
  afterAll(() => pool.end());

  /**
   * Causes an error in the next SQL statement that sets the time limits of a transaction. Just before the error,
   * `failNextLimits` calls the function `before` with the database connection.
   */
  async function failNextLimits(before: (client: pg.PoolClient) => Promise<unknown>) {
    const client = await pool.connect();
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    const spy = vi.spyOn(client, 'query').mockImplementation((async (...args: unknown[]) => {
      const [{ text }] = args as [{ text: string }];
      if (!text.includes('set_config')) return query(...args);
      spy.mockRestore();
      await before(client);
      return query({ text: 'SELECT 1 / 0' });
    }) as never);
    client.release();
  }

  test.each([
    ['an error of PostgreSQL', () => Promise.resolve(), 0],
    [
      'a lost connection',
      (client: pg.PoolClient) =>
        client.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined),
      0,
    ],
    [
      'a server that answers too late',
      (client: pg.PoolClient) => client.query('SELECT pg_sleep(2)').catch(() => undefined),
      2_000,
    ],
  ])(
    'when a transaction cannot start because of %s, the transaction does not occupy a connection of the pool',
    async (_, before, lateMs) => {
      await failNextLimits(before);
      await expect(adapter.startTransaction()).rejects.toThrow();

      await sleep(lateMs); // the late response of the server arrives during the pause
      const { rows: outside } = await pool.query('SELECT now() = statement_timestamp() AS "isAlone"');
      expect(outside).toEqual([{ isAlone: true }]);

      const next = await adapter.startTransaction();
      const { rows } = await next.queryRaw({
        sql: `SELECT current_setting('statement_timeout') <> '0', now() = statement_timestamp()`,
        args: [],
        argTypes: [],
      });
      expect(rows).toEqual([[true, false]]);
      await next.executeRaw({ sql: 'ROLLBACK', args: [], argTypes: [] });
      await next.rollback();
      expect(pool.waitingCount).toBe(0);
      expect(pool.idleCount).toBe(pool.totalCount);
    },
  );
});
