import { createBatch, type Load } from '../scheduling/batch.ts';
import type { NamedStatement } from './named-statement.ts';
import type { Sql } from './types.ts';
import { groupBy } from './group-by.ts';
import { partsOf, partsWithin } from './parts.ts';
import { isRefusedValue } from './violations.ts';

/** The default maximum number of queries that one call or statement answers. */
const maxJoinedQuestions = 1000;

/**
 * The maximum number of rows that one statement reads for several queries. Other work can run between two statements.
 */
const maxJoinedRows = 1_024;

/**
 * Answers several queries with one call of `load`. When PostgreSQL rejects a value of one query, the function calls
 * `load` again for each half of the queries, and so on. In the end, only the query with the rejected value fails. Other
 * errors, such as an unreachable database, cause no further call.
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
    // The halves are loaded one after the other, so that they need only one connection.
    for (const half of partsOf(questions, Math.ceil(questions.length / 2))) {
      const found = await loadApart(load, half).catch((error: Error) => half.map(() => error));
      answers.push(...Array.from(found));
    }
    return answers;
  }
}

/**
 * Creates a function that collects its calls in one iteration of the event loop and answers them together, like
 * `createBatch`. If PostgreSQL rejects a value of one query, only that query fails.
 *
 * @param load answers many queries, in their order. After an error, `load` may be called again with the same queries.
 *   It must therefore be read-only
 * @param maxJoined the maximum number of queries in one call
 */
export const createQueryBatch = <Question, Answer>(
  load: Load<Question, Answer>,
  maxJoined?: number,
): ((question: Question) => Promise<Answer>) =>
  createBatch((questions) => loadApart(load, questions), maxJoined);

/**
 * Creates a function that collects its calls in one iteration of the event loop and answers them with SQL, like
 * `createQueryBatch`. One execution of a statement answers all queries that need this statement and the same shared
 * value. In a result row, the column `n` is the number of the query, starting at 1.
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

/** Reads rows by their ids. The statement gets the ids as the parameter `$ids`. */
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
 * Creates a function that reads rows by several ids. One statement answers all calls in the same iteration of the event
 * loop.
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
 * Creates a function that reads a row by its id. One statement answers all calls in the same iteration of the event
 * loop.
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
