import { setImmediate as nextTurn } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { describe, expect, test } from 'vitest';
import { shareConnection } from '../src/database/embedded-turns.ts';

/** A database that answers in the same turn of the event loop, as the embedded one does, and what it was asked. */
function newDatabase() {
  const asked: string[] = [];
  const query = async (text: string) => void asked.push(text);
  return { asked, ...shareConnection({ query } as unknown as PGlite) };
}

test('a gate that asks over a socket comes between the statements of a long work', async () => {
  const { asked, gates, others } = newDatabase();
  const work = (async () => {
    for (let part = 0; part < 20; part += 1) await others.query(`part ${part}`);
  })();
  const gate = (async () => {
    // From the socket to the question: several turns of the event loop.
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    await gates.query('gate');
  })();
  await Promise.all([work, gate]);
  expect(asked.indexOf('gate')).toBeLessThanOrEqual(2);
});

test('what gates ask comes first, each kind in its order', async () => {
  const { asked, gates, others } = newDatabase();
  const all = ['a', 'b'].map((text) => others.query(text));
  all.push(...['gate 1', 'gate 2'].map((text) => gates.query(text)));
  await Promise.all(all);
  expect(asked).toEqual(['gate 1', 'gate 2', 'a', 'b']);
});

test('gates that ask without a pause keep nothing else waiting for more than 20 of their questions', async () => {
  const { asked, gates, others } = newDatabase();
  let isAnswered = false;
  const other = others.query('other').then(() => (isAnswered = true));
  while (!isAnswered) await gates.query('gate');
  await other;
  expect(asked.indexOf('other')).toBe(20);
});

describe('a transaction', async () => {
  const pglite = await PGlite.create();
  const { gates, others, heavy } = shareConnection(pglite);
  await pglite.exec('CREATE TABLE numbers (number int)');
  const numbersOf = async (connection: Pick<PGlite, 'query'>) => {
    const { rows } = await connection.query<{ number: number }>('SELECT number FROM numbers ORDER BY number');
    return rows.map(({ number }) => number);
  };

  /** Runs a transaction of two statements, and what a gate asks in the middle of it. */
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

  test('of heavy work is interrupted by gates, which see what it has written', async () => {
    const question = () => numbersOf(gates);
    expect(await interrupt(heavy, question)).toEqual({ answeredBeforeSecond: true, answer: [1] });
    expect(await numbersOf(gates)).toEqual([1, 2]);
  });

  test('of heavy work goes on when the question of a gate fails', async () => {
    const question = () => gates.query('SELECT 1 / 0');
    const outcome = await interrupt(heavy, question);
    expect(outcome).toEqual({ answeredBeforeSecond: true, answer: 'division by zero' });
    expect(await numbersOf(gates)).toEqual([1, 2]);
  });

  test('of heavy work is interrupted by nothing else', async () => {
    for (const client of [others, heavy]) {
      const outcome = await interrupt(heavy, () => numbersOf(client));
      expect(outcome).toEqual({ answeredBeforeSecond: false, answer: [1, 2] });
    }
  });

  test('of other work keeps gates waiting', async () => {
    const question = () => numbersOf(gates);
    expect(await interrupt(others, question)).toEqual({ answeredBeforeSecond: false, answer: [1, 2] });
  });

  test('of heavy work that fails leaves nothing behind', async () => {
    await pglite.exec('DELETE FROM numbers');
    const failing = heavy.transaction(async (transaction) => {
      await transaction.query('INSERT INTO numbers VALUES (1)');
      throw new Error('failed');
    });
    await expect(failing).rejects.toThrow('failed');
    expect(await numbersOf(gates)).toEqual([]);
  });
});
