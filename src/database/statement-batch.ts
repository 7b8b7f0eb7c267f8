import { createBatch, type Load } from '../scheduling/batch.ts';
import type { NamedStatement } from './named-statement.ts';
import type { Sql } from './types.ts';
import { groupBy } from './group-by.ts';
import { partsOf, partsWithin } from './parts.ts';
import { isRefusedValue } from './violations.ts';

/** The maximum number of ids whose rows one SQL statement reads. */
const maxJoinedQuestions = 1000;

/**
 * The maximum number of rows that one SQL statement reads for several database queries together. The number of rows is
 * limited, so that each SQL statement is short, and the process can do other work between two statements.
 */
export const maxJoinedRows = 1_024;

/**
 * Answers several database queries with one call of the function `load`. When PostgreSQL rejects a value of one query,
 * `loadApart` calls `load` again for each half of the queries. `loadApart` halves the list of queries again and again,
 * until one call of `load` gets only the query with the rejected value. As a result, only the query with the rejected
 * value fails. If `load` fails for another reason, such as an unreachable database, `loadApart` does not call `load`
 * again.
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
    // The function loads the two halves of the list of queries one after the other. With both halves at the same time,
    // the function would need a second database connection.
    for (const half of partsOf(questions, Math.ceil(questions.length / 2))) {
      const found = await loadApart(load, half).catch((error: Error) => half.map(() => error));
      answers.push(...Array.from(found));
    }
    return answers;
  }
}

/**
 * Creates a function that collects the queries of one iteration of the event loop, and answers all of them with one
 * call of `load` (see `createBatch`). If PostgreSQL rejects a value of one query, only that query fails.
 *
 * @param load a function that returns the answers to several queries, in the order of the queries. `load` must be
 *   read-only, because it may be called again with the same queries after an error
 * @param maxJoined the maximum number of queries in one call of `load`
 */
export const createQueryBatch = <Question, Answer>(
  load: Load<Question, Answer>,
  maxJoined?: number,
): ((question: Question) => Promise<Answer>) =>
  createBatch((questions) => loadApart(load, questions), maxJoined);

/**
 * Creates a function that answers a database query. For all calls of this function in one iteration of the event loop,
 * the process runs only a small number of SQL statements. Several queries share one execution of an SQL statement under
 * two conditions: the queries need the same SQL statement, and `batch.sharedOf` returns the same value for all of them.
 * In each row that the SQL statement returns, the column `n` says to which query the row belongs; the queries are
 * numbered from 1.
 *
 * @param batch.keyOf a function that returns the same key for equal queries, so that the database answers equal queries
 *   only once. Without `batch.keyOf`, the database computes a separate answer for each query, even if several queries
 *   are equal
 * @param batch.maxJoined the maximum number of queries that one execution of an SQL statement answers together
 * @param batch.rowsOf a function that returns the maximum number of rows that the database can return for a query, or a
 *   higher number for a query that reads many rows and returns few. `batch.rowsOf` is needed only if the queries can
 *   read or return many rows
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

/** Reads rows of a table by their ids. The SQL statement receives the ids in the parameter `$ids`. */
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
 * Creates a function that reads several rows of a table by their ids. If other code calls this function several times
 * in one iteration of the event loop, one SQL statement reads the rows for all calls.
 *
 * @param statement the SQL statement that reads the rows whose ids are in `$ids`
 * @returns a function that returns the rows in the order of the given ids, and omits unknown ids
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
 * Creates a function that reads one row of a table by its id. If other code calls this function several times in one
 * iteration of the event loop, one SQL statement reads the rows for all calls.
 *
 * @param statement the SQL statement that reads the rows whose ids are in `$ids`
 * @returns a function that returns the row with the given id, or undefined for an unknown id
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
