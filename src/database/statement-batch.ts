import DataLoader from 'dataloader';
import type { Sql, Statement } from './db.ts';
import { groupBy } from './group-by.ts';

/**
 * Joins the calls that arrive in one turn of the event loop, from one request or from many, into one
 * call of `load`. Nothing is cached: each turn reads the state of its own moment.
 *
 * @param load answers many questions at once, in their order
 */
export function createBatch<Question, Answer>(
  load: (questions: readonly Question[]) => Promise<ArrayLike<Answer | Error>>,
): (question: Question) => Promise<Answer> {
  const loader = new DataLoader<Question, Answer>(load, {
    cache: false,
    maxBatchSize: 1000,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
  return (question) => loader.load(question);
}

/**
 * The same for questions that SQL answers: those with the same statement, and the same shared value if
 * there is one, are answered by one run of it. Rows name their question in `n`, counted from 1.
 */
export function createStatementBatch<Question, Row extends { n: number }, Answer, Shared = undefined>(
  sql: Sql,
  batch: {
    statementOf: (question: Question) => Statement;
    valuesOf: (questions: readonly Question[], shared: Shared) => unknown[];
    answerOf: (rows: Row[]) => Answer;
    sharedOf?: (question: Question) => Shared;
  },
): (question: Question) => Promise<Answer> {
  const { statementOf, valuesOf, answerOf, sharedOf = () => undefined as Shared } = batch;
  return createBatch(async (questions) => {
    const answers = new Map<Question, Answer>();
    const groups = [...groupBy(questions, statementOf)].flatMap(([statement, same]) =>
      [...groupBy(same, sharedOf)].map(([shared, group]) => ({ statement, shared, group })),
    );
    await Promise.all(
      groups.map(async ({ statement, shared, group }) => {
        const rows = groupBy(await sql.query<Row>(statement, valuesOf(group, shared)), (row) => row.n);
        group.forEach((question, index) => answers.set(question, answerOf(rows.get(index + 1) ?? [])));
      }),
    );
    return questions.map((question) => answers.get(question)!);
  });
}
