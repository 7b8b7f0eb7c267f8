/** The median of several values, with the limits of its confidence interval. */
export interface Spread {
  value: number;
  low: number;
  high: number;
}

/**
 * A measured figure of a benchmark case. A benchmark figure that was computed from pairs of measurements has a
 * confidence interval (`Spread`). A benchmark figure has a goal (`least` or `most`) only if its benchmark case defines
 * a goal.
 */
export interface Figure extends Partial<Spread> {
  text: string;
  value: number;
  /** The goal of the benchmark figure: a minimum (`least`) or a maximum (`most`). */
  least?: number;
  most?: number;
}

/**
 * Whether a benchmark figure meets its goal. The verdict is undecided while the goal lies inside the confidence
 * interval.
 */
export type Verdict = 'met' | 'missed' | 'undecided';

/**
 * The maximum number of pairs of measurements in a benchmark case. If 40 pairs of measurements do not show whether a
 * figure meets its goal, the figure is very close to the goal. To halve the width of the confidence interval, the
 * benchmark needs four times as many pairs of measurements. A clear result would therefore need hundreds of pairs.
 * Hundreds of pairs of measurements would take an hour for one benchmark case.
 */
export const maxPairs = 40;

/** The confidence level, which is the probability that the true median lies inside the confidence interval. */
const confidence = 0.95;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Returns the median of the given values, with its confidence interval. The confidence interval comes from the sign
 * test (https://en.wikipedia.org/wiki/Sign_test). The sign test is correct for any distribution of the measured values.
 * Fewer than six values are too few for a confidence level of 95%. For fewer than six values, the function returns the
 * range from the smallest to the largest value.
 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const leftOut = leftOutAtEachEnd(sorted.length);
  return { value: median(sorted), low: sorted[leftOut]!, high: sorted.at(-1 - leftOut)! };
}

/**
 * Returns how many of `count` measured values lie below the confidence interval. The number of measured values above
 * the confidence interval is equal to the number below it.
 */
function leftOutAtEachEnd(count: number): number {
  // For `k` = 0, 1, 2 and so on, the loop tries a confidence interval without the `k` smallest and the `k` largest
  // measured values. `chance` is the probability that the true median lies outside the tried confidence interval. The
  // true median lies below the confidence interval if at most `k` measured values are smaller than the true median. The
  // probability that the true median lies above the confidence interval is the same as the probability that it lies
  // below.
  let chance = 0;
  let combinations = 1;
  for (let k = 0; ; k++) {
    chance += (2 * combinations) / 2 ** count;
    if (chance > 1 - confidence) return Math.max(0, k - 1);
    combinations = (combinations * (count - k)) / (k + 1);
  }
}

/**
 * Divides, for each pair of measurements, the result in `ours` by the result in `theirs`. Returns the median of the
 * ratios of all pairs of measurements, with the confidence interval of the median. If another program slows down the
 * machine, both measurements of a pair become slower, so their ratio stays almost the same.
 */
export const ratioOfPairs = (ours: readonly number[], theirs: readonly number[]): Spread =>
  spreadOf(ours.map((value, pair) => value / theirs[pair]!));

/**
 * Decides whether a benchmark figure meets its goal. Returns `undefined` for a benchmark figure without a goal. If a
 * benchmark figure has no confidence interval, the function compares the value of the figure with the goal.
 */
export function verdictOf(figure: Omit<Figure, 'text'>): Verdict | undefined {
  if (figure.least === undefined && figure.most === undefined) return undefined;
  const { value, low = value, high = value, least = -Infinity, most = Infinity } = figure;
  if (low >= least && high <= most) return 'met';
  return high < least || low > most ? 'missed' : 'undecided';
}

/**
 * Makes at least `least` and at most `most` pairs of measurements. The function makes fewer than `most` pairs if it is
 * clear earlier whether each benchmark figure meets its goal (`verdictOf`). After `least` pairs of measurements, the
 * function compares the figures with their goals. If the verdict on a figure is undecided, the function doubles the
 * number of pairs of measurements, and then compares the figures with their goals again. If the function compared the
 * figures with their goals after every single pair of measurements, it would more often stop too early, with a verdict
 * that is wrong by chance.
 *
 * @param measurePair a function that makes one pair of measurements
 * @param figures a function that computes the figures of the benchmark from all pairs measured so far
 */
export async function measureUntilDecided(
  { least, most }: { least: number; most: number },
  measurePair: () => Promise<void>,
  figures: () => readonly Figure[],
): Promise<void> {
  let measured = 0;
  for (let planned = least; ; planned = Math.min(planned * 2, most)) {
    for (; measured < planned; measured += 1) await measurePair();
    if (planned >= most || figures().every((figure) => verdictOf(figure) !== 'undecided')) return;
  }
}

/** Returns items in random order, so that a benchmark case does not always measure the servers in the same order. */
export const inRandomOrder = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
