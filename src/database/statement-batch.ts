import { createBatch, type Load } from '../scheduling/batch.ts';
import type { NamedStatement } from './named-statement.ts';
import type { Sql } from './types.ts';
import { groupBy } from './group-by.ts';
import { partsOf, partsWithin } from './parts.ts';
import { isRefusedValue } from './violations.ts';

/** The maximum number of queries that one call or statement answers together. */
const maxJoinedQuestions = 1000;

/** The maximum number of rows that one statement reads for several queries, so that other work can run in between. */
const maxJoinedRows = 1_024;

/**
 * Loads queries together. When PostgreSQL rejects a value of one query, each half of the queries is loaded separately,
 * and so on, until only the query with the rejected value fails. Other errors, such as an unreachable database, cause
 * no second load.
 */
async function loadApart<Question, Answer>(
  load: Load<Question, Answer>,
  questions: readonly Question[],
): Promise<ArrayLike<Answer | Error>> {
  try {
    return await load(questions);
  } catch (error) {
    if (questions.length === 1 || !isRefusedValue(error)) throw error;
    const answers: (Answer | Error)[] = [];
    // The halves are loaded one after the other, so that both use the same connection.
    for (const half of partsOf(questions, Math.ceil(questions.length / 2))) {
      const found = await loadApart(load, half).catch((error: Error) => half.map(() => error));
      answers.push(...Array.from(found));
    }
    return answers;
  }
}

/**
 * Joins queries of one iteration of the event loop as `createBatch` does. A query whose value PostgreSQL rejects fails
 * without failing the other queries.
 *
 * @param load answers many queries at once, in their order. After an error, `load` may be called again with the same
 *   queries. It must therefore be read-only
 * @param maxJoined the maximum number of queries in one call
 */
export const createQueryBatch = <Question, Answer>(
  load: Load<Question, Answer>,
  maxJoined?: number,
): ((question: Question) => Promise<Answer>) =>
  createBatch((questions) => loadApart(load, questions), maxJoined);

/**
 * Joins SQL queries as `createQueryBatch` does. Queries with the same statement and the same shared value are answered by
 * one execution of the statement. The column `n` of a row is the number of its query, from 1 on.
 *
 * @param batch.keyOf returns equal keys for equal queries, which are then sent once; by default every query is sent
 * @param batch.maxJoined the maximum number of queries that are answered together
 * @param batch.rowsOf the maximum number of rows of a query, when the number can be large
 */
export function createStatementBatch<Question, Row extends { n: number }, Answer, Shared = undefined>(
  sql: Sql,
  batch: {
    statementOf: (question: Question) => NamedStatement;
    parametersOf: (questions: readonly Question[], shared: Shared) => Readonly<Record<string, unknown>>;
    answerOf: (rows: Row[]) => Answer;
    sharedOf?: (question: Question) => Shared;
    keyOf?: (question: Question) => unknown;
    maxJoined?: number;
    rowsOf?: (question: Question) => number;
  },
): (question: Question) => Promise<Answer> {
  const { statementOf, parametersOf, answerOf, sharedOf = () => undefined as Shared } = batch;
  const { keyOf = (question) => question, rowsOf = () => 0 } = batch;
  return createQueryBatch(async (questions) => {
    const answers = new Map<Question, Answer>();
    const groups = [...groupBy(questions, statementOf)].flatMap(([statement, same]) =>
      [...groupBy(same, sharedOf)].map(([shared, group]) => ({ statement, shared, group })),
    );
    await Promise.all(
      groups.map(async ({ statement, shared, group }) => {
        const same = [...groupBy(group, keyOf).values()];
        for (const part of partsWithin(maxJoinedRows, same, ([question]) => rowsOf(question!))) {
          const asked = part.map(([question]) => question!);
          const found = await sql.query<Row>(statement, statement.values(parametersOf(asked, shared)));
          const rows = groupBy(found, (row) => row.n);
          part.forEach((questions, index) => {
            const answer = answerOf(rows.get(index + 1) ?? []);
            for (const question of questions) answers.set(question, answer);
          });
        }
      }),
    );
    return questions.map((question) => answers.get(question)!);
  }, batch.maxJoined);
}

/** Reads rows by their ids. The statement receives the ids as the parameter `$ids`. */
async function readById<Row extends { id: string }>(
  sql: Sql,
  statement: NamedStatement,
  ids: readonly string[],
): Promise<Map<string, Row>> {
  const parts = partsOf([...new Set(ids)], maxJoinedQuestions);
  const rows = await Promise.all(parts.map((ids) => sql.query<Row>(statement, statement.values({ ids }))));
  return new Map(rows.flat().map((row) => [row.id, row]));
}

/**
 * Creates a look-up of rows by several ids. Look-ups of one iteration of the event loop are joined.
 *
 * @param statement reads the rows of the ids in `$ids`
 * @returns a function that returns the rows in the order of the ids, without unknown ids
 */
export function createRowsById<Row extends { id: string }>(
  sql: Sql,
  statement: NamedStatement,
): (ids: readonly string[]) => Promise<Row[]> {
  return createQueryBatch(async (questions) => {
    const found = await readById<Row>(sql, statement, questions.flat());
    return questions.map((ids) => ids.map((id) => found.get(id)).filter((row) => row !== undefined));
  });
}

/**
 * Creates a look-up of a row by its id. Look-ups of one iteration of the event loop are joined.
 *
 * @param statement reads the rows of the ids in `$ids`
 * @returns a function that returns the row, or undefined for an unknown id
 */
export function createRowById<Row extends { id: string }>(
  sql: Sql,
  statement: NamedStatement,
): (id: string) => Promise<Row | undefined> {
  return createQueryBatch(async (ids) => {
    const found = await readById<Row>(sql, statement, ids);
    return ids.map((id) => found.get(id));
  });
}
