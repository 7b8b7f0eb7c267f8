import { setImmediate as nextTurn } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { describe, expect, test } from 'vitest';
import { shareConnection } from '../../src/database/shared-connection.ts';

/**
 * Creates a database that answers in the same turn of the event loop, like the embedded database, and lists its
 * queries.
 */
function newDatabase() {
  const asked: string[] = [];
  const query = async (text: string) => void asked.push(text);
  return { asked, ...shareConnection({ query } as unknown as PGlite) };
}

test('on the embedded database, a gate request runs between the SQL statements of a long task', async () => {
  const { asked, gates, others } = newDatabase();
  const work = (async () => {
    for (let part = 0; part < 20; part += 1) await others.query(`part ${part}`);
  })();
  const gate = (async () => {
    // A request takes several turns of the event loop from the socket to the query.
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    await gates.query('gate');
  })();
  await Promise.all([work, gate]);
  expect(asked.indexOf('gate')).toBeLessThanOrEqual(2);
});

test('gate queries run before other queries, and queries of the same priority run in their order', async () => {
  const { asked, gates, others } = newDatabase();
  const all = ['a', 'b'].map((text) => others.query(text));
  all.push(...['gate 1', 'gate 2'].map((text) => gates.query(text)));
  await Promise.all(all);
  expect(asked).toEqual(['gate 1', 'gate 2', 'a', 'b']);
});

test('a continuous load of gate queries delays another query by at most 20 gate queries', async () => {
  const { asked, gates, others } = newDatabase();
  let isAnswered = false;
  const other = others.query('other').then(() => (isAnswered = true));
  while (!isAnswered) await gates.query('gate');
  await other;
  expect(asked.indexOf('other')).toBe(20);
});

describe('transactions on the embedded database', async () => {
  const pglite = await PGlite.create();
  const { gates, others, heavy } = shareConnection(pglite);
  await pglite.exec('CREATE TABLE numbers (number int)');
  const numbersOf = async (connection: Pick<PGlite, 'query'>) => {
    const { rows } = await connection.query<{ number: number }>('SELECT number FROM numbers ORDER BY number');
    return rows.map(({ number }) => number);
  };

  /** Runs a transaction of two SQL statements, and sends a gate query when the first statement has run. */
  async function interrupt(client: Pick<PGlite, 'transaction'>, question: () => Promise<unknown>) {
    await pglite.exec('DELETE FROM numbers');
    let asked: Promise<unknown> = Promise.resolve();
    let isAnswered = false;
    const answeredBeforeSecond = await client.transaction(async (transaction) => {
      await transaction.query('INSERT INTO numbers VALUES (1)');
      asked = question().finally(() => (isAnswered = true));
      asked.catch(() => undefined);
      await transaction.query('INSERT INTO numbers VALUES (2)');
      return isAnswered;
    });
    return { answeredBeforeSecond, answer: await asked.catch((error: Error) => error.message) };
  }

  test('on the embedded database, a gate query interrupts a heavy transaction, and sees the writes of the transaction', async () => {
    const question = () => numbersOf(gates);
    expect(await interrupt(heavy, question)).toEqual({ answeredBeforeSecond: true, answer: [1] });
    expect(await numbersOf(gates)).toEqual([1, 2]);
  });

  test('a heavy transaction continues after a gate query that interrupted the transaction fails', async () => {
    const question = () => gates.query('SELECT 1 / 0');
    const outcome = await interrupt(heavy, question);
    expect(outcome).toEqual({ answeredBeforeSecond: true, answer: 'division by zero' });
    expect(await numbersOf(gates)).toEqual([1, 2]);
  });

  test('only gate queries interrupt a heavy transaction', async () => {
    for (const client of [others, heavy]) {
      const outcome = await interrupt(heavy, () => numbersOf(client));
      expect(outcome).toEqual({ answeredBeforeSecond: false, answer: [1, 2] });
    }
  });

  test('on the embedded database, a gate query waits for a transaction that is not heavy', async () => {
    const question = () => numbersOf(gates);
    expect(await interrupt(others, question)).toEqual({ answeredBeforeSecond: false, answer: [1, 2] });
  });

  test('a heavy transaction that fails leaves no writes', async () => {
    await pglite.exec('DELETE FROM numbers');
    const failing = heavy.transaction(async (transaction) => {
      await transaction.query('INSERT INTO numbers VALUES (1)');
      throw new Error('failed');
    });
    await expect(failing).rejects.toThrow('failed');
    expect(await numbersOf(gates)).toEqual([]);
  });
});
