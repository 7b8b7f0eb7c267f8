/**
 * Caches the answer of `ask` for an interval, so that `ask` runs at most once per interval for any number of callers.
 * Only one run is in progress at a time, and all callers during a run get its answer.
 *
 * @param intervalMs how long an answer is cached, in milliseconds
 * @param ask must not reject, and must answer within a bounded time
 * @param now a monotonic clock, in milliseconds
 */
export function askAtMostEvery<Answer>(
  intervalMs: number,
  ask: () => Promise<Answer>,
  now: () => number = () => performance.now(),
): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  let answeredAt = Infinity;
  return () => {
    if (answer && now() - answeredAt < intervalMs) return answer;
    if (answer && answeredAt === Infinity) return answer; // another call of `ask` is already in progress
    answeredAt = Infinity;
    answer = ask().finally(() => (answeredAt = now()));
    return answer;
  };
}
