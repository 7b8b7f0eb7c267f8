import DataLoader from 'dataloader';

/** The default maximum number of questions that one call of `load` answers. */
const maxJoinedQuestions = 1000;

/**
 * Answers a list of questions with a list of answers in the same order. For a question that failed, the list contains
 * an error.
 */
export type Load<Question, Answer> = (questions: readonly Question[]) => Promise<ArrayLike<Answer | Error>>;

/**
 * Returns a function that collects all its calls in one iteration of the event loop, and passes them to `load`
 * together. The calls can come from several requests. No result is cached, so each iteration reads the current state.
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
