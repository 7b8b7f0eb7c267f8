import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PGlite } from '@electric-sql/pglite';

/** What Prisma's adapter and hand-written statements use of the embedded database. */
type Client = Pick<PGlite, 'query' | 'exec' | 'transaction'>;

/** The one connection of the embedded database, as two kinds of work see it. */
export interface SharedConnection {
  /** For what a gate waits for: its turn comes before that of everything else. */
  gates: Client;
  others: Client;
}

/** Turns of the event loop that a gate's question takes from its socket to here, in a batch with others. */
const turnsForGates = 4;

/**
 * Shares the connection of the embedded database. It runs one statement or one transaction at a time: what a gate asks
 * waits for the one that is running, and for no other that was asked before.
 *
 * The database runs in this thread, and what waits for it goes on in the same turn of the event loop: without turns
 * between them, one statement would follow the other, and no question of a gate would be read from its socket.
 */
export function shareConnection(pglite: PGlite): SharedConnection {
  const gates: (() => Promise<void>)[] = [];
  const others: (() => Promise<void>)[] = [];
  let isRunning = false;

  async function runAll(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (gates.length + others.length > 0) {
      for (let turn = 0; turn < turnsForGates && gates.length === 0; turn += 1) await nextTurn();
      const work = gates.shift() ?? others.shift()!;
      await work();
    }
    isRunning = false;
  }

  /** The client whose works wait in a queue. */
  function clientOf(queue: (() => Promise<void>)[]): Client {
    const inTurn = <Result>(work: () => Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        queue.push(() => work().then(resolve, reject));
        void runAll();
      });
    return {
      query: (text, values, options) => inTurn(() => pglite.query(text, values, options)),
      exec: (text, options) => inTurn(() => pglite.exec(text, options)),
      transaction: (callback) => inTurn(() => pglite.transaction(callback)),
    };
  }
  return { gates: clientOf(gates), others: clientOf(others) };
}
