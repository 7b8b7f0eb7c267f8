import { expect, test, vi } from 'vitest';
import { namedStatement } from '../../src/database/named-statement.ts';
import { createQueryBatch, createRowById, createStatementBatch } from '../../src/database/statement-batch.ts';
import type { Sql } from '../../src/database/types.ts';
import { newId } from '../../src/ids.ts';
import { sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma, sql } = gateway.database;

/** An SQL statement that converts each given value to a time. PostgreSQL refuses values that are not times. */
const readTimes = namedStatement(
  'test-times',
  `SELECT q.n::int, q.at::text FROM unnest($at::timestamptz[]) WITH ORDINALITY AS q(at, n)`,
);

const createTimes = (over: Sql) =>
  createStatementBatch<unknown, { n: number; at: string }, string | undefined>(over, {
    statementOf: () => readTimes,
    parametersOf: (at) => ({ at }),
    answerOf: ([row]) => row?.at,
  });

const year = (index: number) => `${2000 + index}-01-01 00:00:00+00`;

test.each([
  ['a value that PostgreSQL refuses', '2020-01-01T00:00:00Z'.padEnd(500, '0')],
  ['a text that PostgreSQL cannot hold', '\u0000'],
  ['a date that the driver cannot write', new Date(Number.NaN)],
])(
  'when an SQL statement combines several queries, and one of these queries contains %s, only this query fails',
  async (_, bad) => {
    const findTime = createTimes(sql);
    const questions = Array.from({ length: 20 }, (_, index) =>
      index === 7 || index === 12 ? bad : year(index),
    );
    const answers = await Promise.allSettled(questions.map((question) => findTime(question)));
    expect(answers.map(({ status }) => status)).toEqual(
      questions.map((question) => (question === bad ? 'rejected' : 'fulfilled')),
    );
    expect(answers[19]).toMatchObject({ value: year(19) });
  },
);

test('when one SQL statement combines several look-ups by id, only the look-up with an invalid id fails', async () => {
  const { companyId } = await gateway.newTenant();
  const byId = createRowById<{ id: string }>(
    sql,
    namedStatement('test-companies', 'SELECT id FROM "Company" WHERE id = ANY($ids::text[])'),
  );
  const answers = await Promise.allSettled([byId(companyId), byId('\u0000'), byId(newId())]);
  expect(answers).toMatchObject([
    { value: { id: companyId } },
    { status: 'rejected' },
    { status: 'fulfilled', value: undefined },
  ]);
});

test('when createQueryBatch combines several queries in one SQL statement, only the invalid query fails', async () => {
  const findHash = createQueryBatch(async (hashes: readonly string[]) => {
    const rows = await prisma.$queryRaw<{ hash: string }[]>`
      SELECT hash FROM unnest(${hashes}::text[]) AS given(hash) WHERE hash = ANY(${hashes}::text[])`;
    return hashes.map((hash) => rows.find((row) => row.hash === hash));
  });
  const answers = await Promise.allSettled(['a', '\u0000', 'b'].map(findHash));
  expect(answers).toMatchObject([{ value: { hash: 'a' } }, { status: 'rejected' }, { value: { hash: 'b' } }]);
});

test.each([
  ['an unreachable server', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
  ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
  ['a lock that is not free', Object.assign(new Error('lock timeout'), { code: '55P03' })],
  ['a statement that takes too long', Object.assign(new Error('statement timeout'), { code: '57014' })],
])(
  'when an SQL statement that combines several queries fails because of %s, the gateway does not repeat the statement',
  async (_, failure) => {
    const query = vi.fn(() => Promise.reject(failure));
    const findTime = createTimes({ query });
    const answers = await Promise.allSettled([findTime(year(1)), findTime(year(2))]);
    expect(answers).toEqual([
      { status: 'rejected', reason: failure },
      { status: 'rejected', reason: failure },
    ]);
    expect(query).toHaveBeenCalledOnce();
  },
);

test('when the database returns one error for each write of a batch, the gateway does not send the batch to the database again', async () => {
  const refused = Object.assign(new Error('refused'), { code: '22021' });
  const write = vi.fn(async (questions: readonly string[]) => questions.map(() => refused));
  const answers = await Promise.allSettled(['a', 'b'].map(createQueryBatch(write)));
  expect(answers).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(write).toHaveBeenCalledOnce();
});

test('to find one invalid query among 1,000 combined queries, the gateway needs at most 21 SQL statements', async () => {
  const query = vi.fn<Sql['query']>((...statement) => sql.query(...statement));
  const findTime = createTimes({ query: query as Sql['query'] });
  const questions = Array.from({ length: 1000 }, (_, index) => (index === 300 ? '\u0000' : year(index % 50)));
  await Promise.allSettled(questions.map((question) => findTime(question)));
  expect(query.mock.calls.length).toBeLessThanOrEqual(21);
});
