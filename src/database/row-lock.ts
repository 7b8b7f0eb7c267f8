import { namedStatement, queryInTransaction } from './named-statement.ts';
import type { Transaction } from './types.ts';

type LockableTable = 'Company' | 'Webhook';

const lockOf = (table: LockableTable) =>
  namedStatement(`${table}-lock`, `SELECT id FROM "${table}" WHERE id = $id FOR NO KEY UPDATE`);

const locks: Record<LockableTable, ReturnType<typeof lockOf>> = {
  Company: lockOf('Company'),
  Webhook: lockOf('Webhook'),
};

/**
 * Locks a row until the transaction ends, so that changes of the row run one after the other. The row lock is `FOR NO
 * KEY UPDATE`. With `FOR UPDATE`, another transaction could not add a row of another table that refers to the locked
 * row.
 */
export async function lockRow(transaction: Transaction, table: LockableTable, id: string): Promise<void> {
  await queryInTransaction(transaction, locks[table], { id });
}
