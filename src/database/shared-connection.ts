import { AsyncResource } from 'node:async_hooks';
import type { PGlite, Transaction } from '@electric-sql/pglite';
import { discardPlans } from './embedded-maintenance.ts';

/** The single connection of the embedded database, or a transaction on this connection. */
type Connection = Pick<PGlite, 'query' | 'exec'>;

/** The methods of PGlite that Prisma's adapter and hand-written SQL statements use. */
type Client = Connection & Pick<PGlite, 'transaction'>;

/**
 * Access to the single connection of the embedded database. There is one database client for gate decisions, one for
 * heavy work, and one for all other work. If several SQL statements wait for the connection, the statements for gate
 * decisions run first.
 */
export interface SharedConnection {
  /**
   * The database client for gate decisions. SQL statements for gate decisions run before all other waiting SQL
   * statements, and must be read-only.
   */
  gates: Client;
  /** The database client for all work except gate decisions and heavy work. */
  others: Client;
  /**
   * The database client for heavy work, such as imports. SQL statements for gate decisions can run between two
   * statements of a heavy transaction. A gate decision that runs in the middle of a heavy transaction sees the
   * uncommitted changes of this transaction.
   */
  heavy: Client;
}

/**
 * The number of event loop iterations that the gateway needs to read a gate request from the network and to queue the
 * SQL statement of this request.
 */
const iterationsForGates = 4;

/**
 * The maximum number of SQL statements for gate decisions that run one after the other while another SQL statement
 * waits. A maximum is necessary, because an endless series of gate decisions could block all other SQL statements.
 */
const maxGatesInARow = 20;

/**
 * Lets several database clients share the connection of the embedded database, which runs only one statement or
 * transaction at a time. An SQL statement for a gate decision runs before all other waiting work, and waits only for
 * the statement or transaction that is already running.
 *
 * The embedded database runs in the thread of the event loop. Before each SQL statement, the queue yields to the event
 * loop for a few iterations, so that the process can read new gate requests from the network.
 *
 * Each statement or transaction runs in the async context of its caller. Its tracing spans therefore belong to the
 * request of the caller.
 */
export function shareConnection(pglite: PGlite): SharedConnection {
  const gates: ((connection: Connection) => Promise<void>)[] = [];
  const others: { isHeavy: boolean; run: () => Promise<void> }[] = [];
  let isRunning = false;
  /** The queue sometimes pauses, and waits for an SQL statement of a gate decision. This function ends the pause. */
  let endPause: () => void = () => undefined;
  /**
   * Whether PostgreSQL now creates a new query plan for each execution of a statement. Heavy work needs new query
   * plans.
   */
  let plansEachExecution = false;

  /**
   * Waits until the event loop has begun its next iteration, or until a statement for a gate decision arrives. In a
   * busy process, an iteration of the event loop can take 100 ms.
   */
  const nextIterationOrGate = () =>
    new Promise<void>((resolve) => {
      endPause = resolve;
      setImmediate(resolve);
    });

  /**
   * Runs the SQL statements of gate decisions that are in the queue, but at most `maxGatesInARow` of them. When the
   * queue contains no SQL statement of a gate decision, the function waits a few iterations of the event loop for one.
   * If no SQL statement of a gate decision arrives in this time, the function returns.
   */
  async function answerGates(connection: Connection): Promise<void> {
    for (let answered = 0; answered < maxGatesInARow; answered += 1) {
      for (let iteration = 0; iteration < iterationsForGates && gates.length === 0; iteration += 1)
        await nextIterationOrGate();
      const work = gates.shift();
      if (!work) return;
      if (connection === pglite) await preparePlans(false);
      await work(connection);
    }
  }

  /**
   * Prepares the database either for heavy work, such as a change of many rows, or for all other work. During heavy
   * work, PostgreSQL creates a new query plan for each execution of a statement. PostgreSQL can store the query plan of
   * an import of few rows. If PostgreSQL used this stored query plan for an import of 10,000 rows, the import would
   * take six times as long as with a new query plan. When the heavy work is over, PostgreSQL must also create new query
   * plans for the statements of all other requests.
   */
  async function preparePlans(isHeavy: boolean): Promise<void> {
    if (isHeavy === plansEachExecution) return;
    plansEachExecution = isHeavy;
    // If an SQL statement that sets or discards query plans fails, the gateway ignores the error, because the work that
    // runs next gives the same result with any query plan.
    if (isHeavy) await pglite.exec('SET plan_cache_mode = force_custom_plan').catch(() => undefined);
    else {
      await pglite.exec('RESET plan_cache_mode').catch(() => undefined);
      await discardPlans(pglite).catch(() => undefined);
    }
  }

  async function runAll(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (gates.length + others.length > 0) {
      await answerGates(pglite);
      const work = others.shift();
      if (!work) continue;
      await preparePlans(work.isHeavy);
      await work.run();
    }
    isRunning = false;
  }

  const ofGates = <Result>(work: (connection: Connection) => Promise<Result>) =>
    new Promise<Result>((resolve, reject) => {
      gates.push(AsyncResource.bind((connection) => work(connection).then(resolve, reject)));
      endPause();
      void runAll();
    });

  const queued = <Result>(work: () => Promise<Result>, isHeavy = false) =>
    new Promise<Result>((resolve, reject) => {
      others.push({ isHeavy, run: AsyncResource.bind(() => work().then(resolve, reject)) });
      void runAll();
    });

  const forOthers: Client = {
    query: (text, values, options) => queued(() => pglite.query(text, values, options)),
    exec: (text, options) => queued(() => pglite.exec(text, options)),
    transaction: (callback) => queued(() => pglite.transaction(callback)),
  };

  /**
   * Wraps a transaction. Before each statement of the wrapped transaction, the waiting SQL statements for gate
   * decisions run.
   */
  function answeringGates(transaction: Transaction): Transaction {
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
      query: (text, values, options) => queued(() => pglite.query(text, values, options), true),
      transaction: (callback) =>
        queued(() => pglite.transaction((transaction) => callback(answeringGates(transaction))), true),
    },
  };
}

/**
 * While a heavy transaction runs, each SQL statement for a gate decision runs in a savepoint of this transaction.
 * Because of the savepoint, a failed statement does not abort the transaction. In the savepoint of a gate decision,
 * PostgreSQL may use a stored query plan, instead of creating a new query plan. Creating a new query plan takes several
 * times as long as the gate decision itself. Statements for gate decisions change no data, so the rollback to the
 * savepoint undoes only the change of the setting `plan_cache_mode`.
 */
function inSavepoints(transaction: Transaction): Connection {
  async function inSavepoint<Result>(run: () => Promise<Result>): Promise<Result> {
    await transaction.exec('SAVEPOINT gate; SET LOCAL plan_cache_mode = auto');
    try {
      return await run();
    } finally {
      await transaction.exec('ROLLBACK TO SAVEPOINT gate; RELEASE SAVEPOINT gate');
    }
  }
  return {
    query: (text, values, options) => inSavepoint(() => transaction.query(text, values, options)),
    exec: (text, options) => inSavepoint(() => transaction.exec(text, options)),
  };
}
