import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PGlite, Transaction } from '@electric-sql/pglite';

/** What statements run on: the connection, or a transaction of it. */
type Connection = Pick<PGlite, 'query' | 'exec'>;

/** What Prisma's adapter and hand-written statements use of the embedded database. */
type Client = Connection & Pick<PGlite, 'transaction'>;

/** The one connection of the embedded database, as three kinds of work see it. */
export interface SharedConnection {
  /** For what a gate waits for: its statements come before everything else, and must change nothing. */
  gates: Client;
  others: Client;
  /**
   * For work that takes long. The statements of gates come between those of its transactions, too: they see what it has
   * written so far.
   */
  heavy: Client;
}

/** Turns of the event loop that a gate's question takes from its socket to here, in a batch with others. */
const turnsForGates = 4;

/** Statements of gates between two other statements: gates that ask without a pause must not stop everything else. */
const maxGatesInARow = 20;

/**
 * Shares the connection of the embedded database. It runs one statement or one transaction at a time: what a gate asks
 * waits for the one that is running, and for no other that was asked before.
 *
 * The database runs in this thread, and what waits for it goes on in the same turn of the event loop: without turns
 * between them, one statement would follow the other, and no question of a gate would be read from its socket.
 */
export function shareConnection(pglite: PGlite): SharedConnection {
  const gates: ((connection: Connection) => Promise<void>)[] = [];
  const others: (() => Promise<void>)[] = [];
  let isRunning = false;

  /** Answers gates, those whose question is on its way from its socket too. */
  async function answerGates(connection: Connection): Promise<void> {
    for (let answered = 0; answered < maxGatesInARow; answered += 1) {
      for (let turn = 0; turn < turnsForGates && gates.length === 0; turn += 1) await nextTurn();
      const work = gates.shift();
      if (!work) return;
      await work(connection);
    }
  }

  async function runAll(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (gates.length + others.length > 0) {
      await answerGates(pglite);
      await others.shift()?.();
    }
    isRunning = false;
  }

  const ofGates = <Result>(work: (connection: Connection) => Promise<Result>) =>
    new Promise<Result>((resolve, reject) => {
      gates.push((connection) => work(connection).then(resolve, reject));
      void runAll();
    });

  const inTurn = <Result>(work: () => Promise<Result>) =>
    new Promise<Result>((resolve, reject) => {
      others.push(() => work().then(resolve, reject));
      void runAll();
    });

  const forOthers: Client = {
    query: (text, values, options) => inTurn(() => pglite.query(text, values, options)),
    exec: (text, options) => inTurn(() => pglite.exec(text, options)),
    transaction: (callback) => inTurn(() => pglite.transaction(callback)),
  };

  /** A transaction before each of whose statements gates have their turn. */
  function withTurnsOfGates(transaction: Transaction): Transaction {
    const ofGate = inSavepoints(transaction);
    return Object.assign(Object.create(transaction) as Transaction, {
      async query<Row>(...statement: Parameters<Transaction['query']>) {
        await answerGates(ofGate);
        return transaction.query<Row>(...statement);
      },
    });
  }

  return {
    gates: {
      query: (text, values, options) => ofGates((connection) => connection.query(text, values, options)),
      exec: (text, options) => ofGates((connection) => connection.exec(text, options)),
      transaction: forOthers.transaction,
    },
    others: forOthers,
    heavy: {
      ...forOthers,
      transaction: (callback) =>
        inTurn(() => pglite.transaction((transaction) => callback(withTurnsOfGates(transaction)))),
    },
  };
}

/** A transaction in which a statement that fails does not end what was done before. */
function inSavepoints(transaction: Transaction): Connection {
  async function inSavepoint<Result>(run: () => Promise<Result>): Promise<Result> {
    await transaction.exec('SAVEPOINT gate');
    try {
      return await run();
    } catch (error) {
      await transaction.exec('ROLLBACK TO SAVEPOINT gate');
      throw error;
    } finally {
      await transaction.exec('RELEASE SAVEPOINT gate');
    }
  }
  return {
    query: (text, values, options) => inSavepoint(() => transaction.query(text, values, options)),
    exec: (text, options) => inSavepoint(() => transaction.exec(text, options)),
  };
}
