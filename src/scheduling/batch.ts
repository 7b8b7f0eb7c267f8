import DataLoader from 'dataloader';

/** The maximum number of questions that one call answers together. */
const maxJoinedQuestions = 1000;

/** Answers many questions at once, in their order. The answer to a failed question is its error. */
export type Load<Question, Answer> = (questions: readonly Question[]) => Promise<ArrayLike<Answer | Error>>;

/**
 * Joins the calls that arrive in one turn of the event loop, from one request or from many, into one call of `load`.
 * Nothing is cached: each turn of the event loop reads the current state.
 *
 * @param maxJoined the maximum number of questions in one call of `load`
 */
export function createBatch<Question, Answer>(
  load: Load<Question, Answer>,
  maxJoined = maxJoinedQuestions,
): (question: Question) => Promise<Answer> {
  const loader = new DataLoader<Question, Answer>(load, {
    cache: false,
    maxBatchSize: maxJoined,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
  return (question) => loader.load(question);
}
