import DataLoader from 'dataloader';
import type { NamedStatement } from './named-statement.ts';
import type { Sql } from './types.ts';
import { groupBy } from './group-by.ts';
import { partsOf, partsWithin } from './parts.ts';

/** How many questions one call or statement answers at most. */
const maxJoinedQuestions = 1000;

/** How many rows one statement reads for several questions at most: others have their turn between the statements. */
const maxJoinedRows = 1_024;

/**
 * Joins the calls that arrive in one turn of the event loop, from one request or from many, into one
 * call of `load`. Nothing is cached: each turn reads the state of its own moment.
 *
 * @param load answers many questions at once, in their order
 * @param maxJoined how many questions at most
 */
export function createBatch<Question, Answer>(
  load: (questions: readonly Question[]) => Promise<ArrayLike<Answer | Error>>,
  maxJoined = maxJoinedQuestions,
): (question: Question) => Promise<Answer> {
  const loader = new DataLoader<Question, Answer>(load, {
    cache: false,
    maxBatchSize: maxJoined,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
  return (question) => loader.load(question);
}

/**
 * The same for questions that SQL answers: those with the same statement, and the same shared value if
 * there is one, are answered by one run of it. Rows name their question in `n`, counted from 1.
 *
 * @param batch.keyOf says which questions are the same and are asked once; when left out each is asked
 * @param batch.maxJoined how many questions are answered together at most
 * @param batch.rowsOf how many rows a question may have, when they are many
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
  return createBatch(async (questions) => {
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

/** The rows of some ids in `$ids`, by their ids. */
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
 * Joins look-ups of several ids each.
 *
 * @param statement reads the rows of the ids in `$ids`
 * @returns what answers with the rows of ids in their order, without unknown ones
 */
export function createRowsById<Row extends { id: string }>(
  sql: Sql,
  statement: NamedStatement,
): (ids: readonly string[]) => Promise<Row[]> {
  return createBatch(async (questions) => {
    const found = await readById<Row>(sql, statement, questions.flat());
    return questions.map((ids) => ids.map((id) => found.get(id)).filter((row) => row !== undefined));
  });
}

/**
 * Joins look-ups by id.
 *
 * @param statement reads the rows of the ids in `$ids`
 * @returns what answers with the row of an id, or undefined for an unknown one
 */
export function createRowById<Row extends { id: string }>(
  sql: Sql,
  statement: NamedStatement,
): (id: string) => Promise<Row | undefined> {
  return createBatch(async (ids) => {
    const found = await readById<Row>(sql, statement, ids);
    return ids.map((id) => found.get(id));
  });
}
