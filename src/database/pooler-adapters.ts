import { PrismaPg } from '@prisma/adapter-pg';
import type { PoolClient } from 'pg';
import { LOCK_LIMITS_MS, STATEMENT_TIMEOUT_MS } from './session.ts';

/**
 * Connects Prisma to a pooler in transaction mode, such as PgBouncer. In transaction mode, a pooler keeps the settings
 * of a connection only until the transaction ends. Each transaction therefore begins by setting the time limits in
 * `LOCK_LIMITS_MS` and the statement timeout.
 */
export class PoolerAdapters extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    const startTransaction = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = await startTransaction(isolationLevel);
      const limits = { ...LOCK_LIMITS_MS, statement_timeout: STATEMENT_TIMEOUT_MS };
      const settings = Object.entries(limits).map(
        ([name, limitMs]) => `set_config('${name}', '${limitMs}', true)`,
      );
      try {
        await transaction.queryRaw({ sql: `SELECT ${settings.join(', ')}`, args: [], argTypes: [] });
      } catch (error) {
        // When the query that sets the time limits fails, Prisma does not return the connection of the transaction to
        // the pool. `PoolerAdapters` therefore removes the connection of the failed transaction from the pool, and
        // closes the connection. If the pool kept this connection, a later transaction would run its statements inside
        // the failed transaction, which is still open. `PoolerAdapters` closes the connection instead of sending a
        // ROLLBACK, because a ROLLBACK may have to wait for a slow statement.
        (transaction as unknown as { client: PoolClient }).client.release(true);
        throw error;
      }
      return transaction;
    };
    return adapter;
  }
}
