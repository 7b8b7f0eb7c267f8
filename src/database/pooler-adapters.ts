import { PrismaPg } from '@prisma/adapter-pg';
import type { PoolClient } from 'pg';
import { LOCK_LIMITS_MS, STATEMENT_TIMEOUT_MS } from './session.ts';

/**
 * Prisma's connections through a pooler in transaction mode. In this mode of a pooler, a setting of a connection is
 * valid only within one transaction. So each transaction first sets the time limits of `LOCK_LIMITS_MS` and the
 * statement timeout.
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
        // Prisma does not know a transaction that failed to start, so Prisma never returns its connection to the pool.
        // The pool closes the connection, because a ROLLBACK after a timeout would wait behind the slow statement, and
        // later statements on the connection would run in the open transaction.
        (transaction as unknown as { client: PoolClient }).client.release(true);
        throw error;
      }
      return transaction;
    };
    return adapter;
  }
}
