/** How long the answer of the database counts for every probe, in milliseconds. */
export const readinessIntervalMs = 1_000;

/**
 * Repeats an answer for a while, so that probes at any rate cost one question in each interval. One question runs at
 * a time; whoever asks meanwhile waits for its answer.
 *
 * @param ask must not reject, and answer within a bounded time
 * @param now the time in milliseconds, never going back
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
    if (answer && answeredAt === Infinity) return answer; // it is under way
    answeredAt = Infinity;
    answer = ask().finally(() => (answeredAt = now()));
    return answer;
  };
}
