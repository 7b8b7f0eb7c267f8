import { PGlite } from '@electric-sql/pglite';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { PreparedPGlite } from '../../src/database/prepared-pglite.ts';
import { createEmbeddedDatabase } from '../support/scratch-database.ts';

let database: PreparedPGlite;
beforeAll(async () => {
  database = new PreparedPGlite({ dataDir: 'memory://' });
  await database.waitReady;
  await database.exec(`
    CREATE TYPE colour AS ENUM ('RED', 'BLUE');
    CREATE TABLE item (id int PRIMARY KEY, name text, colours colour[], data jsonb)`);
});
afterAll(() => database.close());

const preparedStatements = async () => {
  const [result] = await database.exec('SELECT count(*)::int AS count FROM pg_prepared_statements');
  return result!.rows[0]!.count as number;
};

test.each([
  [
    'values of every type',
    'SELECT 1 AS a, 2::int8 AS b, 1.5::numeric AS c, true AS d, now() > $1::timestamptz AS e',
    [new Date(0)],
  ],
  ['null', 'SELECT $1::text AS a, $2::int AS b', [null, undefined]],
  [
    'arrays',
    'SELECT $1::text[] AS a, $2::int[] AS b, ARRAY[NULL, 1] AS c',
    [
      ['x', null, '{"'],
      [1, 2],
    ],
  ],
  ['JSON', 'SELECT $1::jsonb AS a, $2::json AS b', [{ a: [1] }, '"text"']],
  ['bytes and times', `SELECT $1::bytea AS a, $2::timestamptz AS b`, [Uint8Array.of(1, 2), new Date(5)]],
  ['several rows', 'SELECT n, n::text AS text FROM generate_series(1, $1::int) AS n', [3]],
  ['no row', 'SELECT 1 AS a WHERE $1', [false]],
  ['the number of changed rows', 'UPDATE item SET name = $1 WHERE false', ['x']],
])('a prepared statement has the same result as a statement of PGlite: %s', async (_, text, values) => {
  for (const options of [
    {},
    { rowMode: 'array' as const },
    { parsers: { 25: (value: string) => `<${value}>` } },
  ]) {
    const expected = await PGlite.prototype.query.call(database, text, values, options);
    expect(await database.query(text, values, options)).toEqual(expected);
    expect(await database.transaction((transaction) => transaction.query(text, values, options))).toEqual(
      expected,
    );
  }
});

test('after refreshArrayTypes has run, a query can write and return arrays of a newly created enum type', async () => {
  await database.refreshArrayTypes();
  const insert =
    'INSERT INTO item (id, colours) VALUES ($1, $2::colour[]) ON CONFLICT DO NOTHING RETURNING colours';
  expect((await database.query(insert, [1, ['RED', 'BLUE']])).rows).toEqual([{ colours: ['RED', 'BLUE'] }]);
});

test('the embedded database parses an SQL statement only once, even when the SQL statement runs many times', async () => {
  const before = await preparedStatements();
  for (let id = 100; id < 110; id += 1) {
    await database.query('INSERT INTO item (id) VALUES ($1)', [id]);
    await database.transaction((transaction) => transaction.query('DELETE FROM item WHERE id = $1', [id]));
  }
  expect(await preparedStatements()).toBe(before + 2);
});

test('a failed SQL statement reports its SQLSTATE, and does not affect the next SQL statement', async () => {
  await expect(database.query('SELECT 1 / $1::int', [0])).rejects.toMatchObject({ code: '22012' });
  await expect(database.query('SELECT nothing')).rejects.toMatchObject({ code: '42703' });
  expect((await database.query('SELECT 4 / $1::int AS n', [2])).rows).toEqual([{ n: 2 }]);
  expect((await database.query('SELECT 1 / $1::int AS "?column?"', [1])).rows).toHaveLength(1);
});

test('after one of its SQL statements has failed, a transaction refuses all further SQL statements until ROLLBACK', async () => {
  const insert = 'INSERT INTO item (id, name) VALUES ($1, $2)';
  const failed = database.transaction(async (transaction) => {
    await transaction.query(insert, [200, 'kept only with a COMMIT']);
    await transaction.query(insert, [200, 'again']).catch(() => undefined);
    await transaction.query('SELECT 7 AS seven');
  });
  await expect(failed).rejects.toMatchObject({ code: '25P02' });
  expect((await database.query('SELECT id FROM item WHERE id = $1', [200])).rows).toEqual([]);
  expect((await database.query('SELECT 7 AS seven')).rows).toEqual([{ seven: 7 }]);
});

test('the embedded database refuses an SQL statement of a transaction that has already ended', async () => {
  let ended: Parameters<Parameters<PGlite['transaction']>[0]>[0];
  await database.transaction(async (transaction) => void (ended = transaction));
  await expect(async () => ended.query('SELECT 1')).rejects.toThrow('Transaction is closed');
});

test('the embedded database stores the query plan of an SQL statement that is executed several times', async () => {
  const scratch = await createEmbeddedDatabase();
  const { sql, close } = await openDatabase({ dataDir: scratch.dataDir, log: pino({ level: 'silent' }) });
  onTestFinished(async () => {
    await close();
    await scratch.drop();
  });
  const text = 'SELECT id FROM "Company" WHERE id = $1';
  for (let run = 0; run < 10; run += 1) await sql.query({ name: 'company', text }, ['none']);
  const plans = await sql.query(
    {
      name: 'plans',
      text: 'SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = $1',
    },
    [text],
  );
  // PostgreSQL makes a new query plan for each of the first five executions of a prepared statement.
  expect(plans).toEqual([{ generic_plans: '5', custom_plans: '5' }]);
});

test('the embedded database prepares at most 500 SQL statements, and runs all other SQL statements without preparing them', async () => {
  for (let n = 0; n < 600; n += 1) {
    expect((await database.query(`SELECT $1::int + ${n} AS sum`, [1])).rows).toEqual([{ sum: n + 1 }]);
  }
  expect(await preparedStatements()).toBeGreaterThan(490);
  expect(await preparedStatements()).toBeLessThanOrEqual(500);
});
