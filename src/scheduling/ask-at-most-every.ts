/**
 * Returns a function that runs `ask` at most once per interval, and caches the result. If a caller calls the returned
 * function while `ask` is running, the function does not start `ask` again, but waits for the result of the running
 * `ask`.
 *
 * @param intervalMs how long a result is cached, in milliseconds
 * @param ask the function to run; its promise must not reject, and must resolve within a limited time
 * @param now returns the time of a monotonic clock, in milliseconds
 */
export function askAtMostEvery<Answer>(
  intervalMs: number,
  ask: () => Promise<Answer>,
  now: () => number = () => performance.now(),
): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  let answeredAt = Infinity;
  return () => {
    // `answeredAt` is infinite while `ask` is running, so further calls always return the answer of the running `ask`.
    if (answer && now() - answeredAt < intervalMs) return answer;
    answeredAt = Infinity;
    answer = ask().finally(() => (answeredAt = now()));
    return answer;
  };
}
