/**
 * Returns a function that caches the result of `ask`, so that `ask` runs at most once per interval. Callers never start
 * a second run while one is in progress; they wait for the result of that run.
 *
 * @param intervalMs how long a result is cached, in milliseconds
 * @param ask must not reject, and must end within a limited time
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
    if (answer && answeredAt === Infinity) return answer; // `ask` is running
    answeredAt = Infinity;
    answer = ask().finally(() => (answeredAt = now()));
    return answer;
  };
}
