import type { PGlite } from '@electric-sql/pglite';
import type { SqlDriverAdapter, Transaction } from '@prisma/driver-adapter-utils';
import { PrismaPGlite } from 'pglite-prisma-adapter';

/** The methods of PGlite that Prisma's adapter calls. */
type Client = Pick<PGlite, 'query' | 'exec' | 'transaction'>;

/**
 * Prisma's connections to the embedded database. The class replaces the transactions of Prisma's adapter
 * `PrismaPGlite`, because these transactions report success when COMMIT fails, and do not handle a failed ROLLBACK.
 */
export class EmbeddedAdapters extends PrismaPGlite {
  readonly #client: Client;

  constructor(client: Client) {
    super(client as PGlite);
    this.#client = client;
  }

  override async connect(): Promise<SqlDriverAdapter> {
    const adapter = await super.connect();
    // `startTransaction` ignores the isolation level, because the embedded database runs one transaction after the
    // other.
    adapter.startTransaction = () => startTransaction(this.#client);
    return adapter;
  }
}

/**
 * Starts a transaction. PGlite runs COMMIT after the callback of the transaction has ended, so the callback waits until
 * Prisma commits or rolls back the transaction.
 */
function startTransaction(client: Client): Promise<Transaction> {
  return new Promise((resolve, reject) => {
    const ended = client.transaction(async (transaction) => {
      const statements = await new PrismaPGlite(transaction as unknown as PGlite).connect();
      await new Promise<void>((endCallback) => {
        resolve(
          Object.assign(statements, {
            options: { usePhantomQuery: true },
            commit() {
              endCallback();
              return ended;
            },
            async rollback() {
              const rolledBack = transaction.rollback();
              // When the callback of a transaction has ended, PGlite refuses every later statement of this transaction.
              // If PGlite accepted a statement after the ROLLBACK, the statement would run outside the transaction and
              // make permanent changes.
              endCallback();
              await Promise.all([rolledBack, ended]);
            },
          }),
        );
      });
    });
    // If BEGIN fails, the promise of `startTransaction` rejects. If COMMIT or ROLLBACK fails, the promise of `commit`
    // or `rollback` rejects.
    ended.catch(reject);
  });
}
