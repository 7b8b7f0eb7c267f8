import DataLoader from 'dataloader';

/** The default maximum of questions (such as ids to look up) in one call of `load`. */
const maxJoinedQuestions = 1000;

/**
 * A function that gets a list of questions, and returns a list of answers in the same order. For example, each question
 * is an id, and each answer is the row with this id. If the function cannot answer a question, its list of answers
 * contains an error instead of the answer.
 */
export type Load<Question, Answer> = (questions: readonly Question[]) => Promise<ArrayLike<Answer | Error>>;

/**
 * Returns a function that collects the questions of one iteration of the event loop, and passes all questions to one
 * call of `load`. One call of `load` can contain questions (such as ids to look up) from several HTTP requests. Answers
 * are not cached: if a question is repeated in a later iteration of the event loop, `load` runs again.
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
