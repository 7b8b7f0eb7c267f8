import type { PGlite } from '@electric-sql/pglite';
import type { SqlDriverAdapter, Transaction } from '@prisma/driver-adapter-utils';
import { PrismaPGlite } from 'pglite-prisma-adapter';

/** The methods of PGlite that Prisma's adapter calls. */
type Client = Pick<PGlite, 'query' | 'exec' | 'transaction'>;

/**
 * Prisma's connections to the embedded database. `EmbeddedAdapters` starts the transactions itself. The transactions of
 * the superclass report a failed COMMIT as a success, and do not handle a failed ROLLBACK.
 */
export class EmbeddedAdapters extends PrismaPGlite {
  readonly #client: Client;

  constructor(client: Client) {
    super(client as PGlite);
    this.#client = client;
  }

  override async connect(): Promise<SqlDriverAdapter> {
    const adapter = await super.connect();
    // The isolation level is ignored, because the embedded database runs one transaction after the other.
    adapter.startTransaction = () => startTransaction(this.#client);
    return adapter;
  }
}

/**
 * Starts a transaction. PGlite runs COMMIT after the callback of the transaction has ended. The callback therefore
 * waits until Prisma commits the transaction or rolls the transaction back.
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
              // After the end of the callback, PGlite refuses further statements of the transaction. If PGlite accepted
              // a statement after the ROLLBACK, the statement would run outside the transaction, and its changes would
              // be permanent.
              endCallback();
              await Promise.all([rolledBack, ended]);
            },
          }),
        );
      });
    });
    // If BEGIN fails, `reject` reports the error. If the end of the transaction fails, `commit` and `rollback` report
    // the error.
    ended.catch(reject);
  });
}
