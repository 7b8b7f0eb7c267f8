import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { describe, expect, test } from 'vitest';
import { shareConnection } from '../../src/database/shared-connection.ts';

/**
 * Creates a fake database that records the text of each query. The fake database responds to each query before the next
 * iteration of the event loop starts, as the embedded database does.
 */
function newDatabase() {
  const asked: string[] = [];
  const query = async (text: string) => void asked.push(text);
  return { asked, ...shareConnection({ query } as unknown as PGlite) };
}

test('on the embedded database, a query for a gate decision does not wait until a task with 20 SQL statements has ended', async () => {
  const { asked, gates, others } = newDatabase();
  const work = (async () => {
    for (let part = 0; part < 20; part += 1) await others.query(`part ${part}`);
  })();
  const gate = (async () => {
    // In this test, as in the gateway, the event loop runs several iterations before the query for the gate decision
    // starts.
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    await gates.query('gate');
  })();
  await Promise.all([work, gate]);
  expect(asked.indexOf('gate')).toBeLessThanOrEqual(2);
});

test('a waiting query for a gate decision runs before the next iteration of the event loop, and another query runs after this iteration', async () => {
  const { asked, gates, others } = newDatabase();
  const nextIteration = nextTurn().then(() => asked.push('next iteration'));
  await Promise.all([others.query('other'), gates.query('gate'), nextIteration]);
  expect(asked).toEqual(['gate', 'next iteration', 'other']);
});

test('queries for gate decisions run before other queries, and queries of the same priority run in the order of their arrival', async () => {
  const { asked, gates, others } = newDatabase();
  const all = ['a', 'b'].map((text) => others.query(text));
  all.push(...['gate 1', 'gate 2'].map((text) => gates.query(text)));
  await Promise.all(all);
  expect(asked).toEqual(['gate 1', 'gate 2', 'a', 'b']);
});

test('a query that is not for a gate decision waits for at most 20 consecutive queries for gate decisions', async () => {
  const { asked, gates, others } = newDatabase();
  let isAnswered = false;
  const other = others.query('other').then(() => (isAnswered = true));
  while (!isAnswered) await gates.query('gate');
  await other;
  expect(asked.indexOf('other')).toBe(20);
});

test('each query and transaction on the embedded database sees the AsyncLocalStorage value of its caller', async () => {
  const caller = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const see = async () => void seen.push(caller.getStore());
  const exec = async () => [];
  const transaction = (callback: (transaction: unknown) => Promise<void>) => callback({ exec });
  const { gates, others, heavy } = shareConnection({ query: see, exec, transaction } as unknown as PGlite);
  await Promise.all([
    caller.run('first', () => others.query('a')),
    caller.run('second', () => others.query('b')),
    caller.run('third', () => heavy.transaction(see)),
    caller.run('gate', () => gates.query('c')),
  ]);
  expect(seen).toEqual(['gate', 'first', 'second', 'third']);
});

describe('transactions on the embedded database', async () => {
  const pglite = await PGlite.create();
  const { gates, others, heavy } = shareConnection(pglite);
  await pglite.exec('CREATE TABLE numbers (number int)');
  const numbersOf = async (connection: Pick<PGlite, 'query'>) => {
    const { rows } = await connection.query<{ number: number }>('SELECT number FROM numbers ORDER BY number');
    return rows.map(({ number }) => number);
  };

  /**
   * Runs a transaction of two SQL statements. Between the two SQL statements of this transaction, the function sends a
   * query that is not part of the transaction.
   */
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

  test('on the embedded database, a query for a gate decision does not wait for a heavy transaction, and reads the uncommitted rows of the transaction', async () => {
    const question = () => numbersOf(gates);
    expect(await interrupt(heavy, question)).toEqual({ answeredBeforeSecond: true, answer: [1] });
    expect(await numbersOf(gates)).toEqual([1, 2]);
  });

  test('a heavy transaction continues when a query for a gate decision fails in the middle of the transaction', async () => {
    const question = () => gates.query('SELECT 1 / 0');
    const outcome = await interrupt(heavy, question);
    expect(outcome).toEqual({ answeredBeforeSecond: true, answer: 'division by zero' });
    expect(await numbersOf(gates)).toEqual([1, 2]);
  });

  test('queries for gate decisions run in the middle of a heavy transaction, but other queries wait until the transaction has ended', async () => {
    for (const client of [others, heavy]) {
      const outcome = await interrupt(heavy, () => numbersOf(client));
      expect(outcome).toEqual({ answeredBeforeSecond: false, answer: [1, 2] });
    }
  });

  test('on the embedded database, a query for a gate decision waits for the end of a short transaction', async () => {
    const question = () => numbersOf(gates);
    expect(await interrupt(others, question)).toEqual({ answeredBeforeSecond: false, answer: [1, 2] });
  });

  test('a heavy transaction that fails is rolled back', async () => {
    await pglite.exec('DELETE FROM numbers');
    const failing = heavy.transaction(async (transaction) => {
      await transaction.query('INSERT INTO numbers VALUES (1)');
      throw new Error('failed');
    });
    await expect(failing).rejects.toThrow('failed');
    expect(await numbersOf(gates)).toEqual([]);
  });

  /** Returns the number of rows that PostgreSQL expected when it planned the prepared statement `all_numbers`. */
  async function plannedRows(): Promise<number> {
    const [result] = await pglite.exec('EXPLAIN (FORMAT JSON) EXECUTE all_numbers(0)');
    return (result!.rows[0]!['QUERY PLAN'] as [{ Plan: { 'Plan Rows': number } }])[0].Plan['Plan Rows'];
  }

  test.each([
    ['other work', () => others],
    ['a gate decision', () => gates],
  ])(
    'after a heavy transaction, PostgreSQL plans prepared statements again before %s, because the number of rows may have changed',
    async (_, nextClient) => {
      await pglite.exec('TRUNCATE numbers');
      await pglite.exec('PREPARE all_numbers (int) AS SELECT number FROM numbers WHERE number > $1');
      for (let run = 0; run < 10; run += 1) await pglite.exec('EXECUTE all_numbers(0)');
      const stored = await plannedRows();
      await others.query('INSERT INTO numbers SELECT generate_series(1, 10000)');
      expect(await plannedRows()).toBe(stored);
      await heavy.transaction((transaction) => transaction.query('SELECT 1'));
      await nextClient().query('SELECT 1');
      expect(await plannedRows()).toBeGreaterThan(2 * stored);
      await pglite.exec('DEALLOCATE all_numbers');
    },
  );

  test('for heavy requests, PostgreSQL makes a new query plan for each execution of an SQL statement, inside and outside transactions', async () => {
    const setting = (client: Pick<PGlite, 'query'>) => client.query('SHOW plan_cache_mode');
    const inTransaction = await heavy.transaction((transaction) => setting(transaction as unknown as PGlite));
    for (const { rows } of [inTransaction, await setting(heavy)])
      expect(rows).toEqual([{ plan_cache_mode: 'force_custom_plan' }]);
    for (const client of [others, gates])
      expect((await setting(client)).rows).toEqual([{ plan_cache_mode: 'auto' }]);
  });
});
