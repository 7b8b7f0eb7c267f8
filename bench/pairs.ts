/** The median of several values, with the limits of its confidence interval. */
export interface Spread {
  value: number;
  low: number;
  high: number;
}

/**
 * A measured figure of a case. It has a confidence interval if it was measured in pairs of rounds, and a goal if the
 * case defines one.
 */
export interface Figure extends Partial<Spread> {
  text: string;
  value: number;
  /** The goal of the figure: a minimum (`least`) or a maximum (`most`). */
  least?: number;
  most?: number;
}

/** Whether a figure meets its goal. The verdict is undecided while the goal lies inside the confidence interval. */
export type Verdict = 'met' | 'missed' | 'undecided';

/**
 * The maximum number of pairs of rounds in a case. Four times as many pairs make the confidence interval half as wide,
 * so 40 pairs give half the width of nine pairs. A figure that is then still undecided is very close to its goal. A
 * decision would need hundreds of pairs, which take an hour for each case.
 */
export const maxPairs = 40;

/** The confidence level. It is the probability that the true median lies inside the confidence interval. */
const confidence = 0.95;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Returns the median of values and its confidence interval. The interval comes from the sign test, which works for any
 * distribution of the noise (https://en.wikipedia.org/wiki/Sign_test). With fewer than six values, no interval reaches
 * the confidence level. The result is then the range from the smallest to the largest value.
 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const leftOut = leftOutAtEachEnd(sorted.length);
  return { value: median(sorted), low: sorted[leftOut]!, high: sorted.at(-1 - leftOut)! };
}

/**
 * Returns how many of the smallest values are outside the confidence interval. The number of the largest values outside
 * is the same.
 */
function leftOutAtEachEnd(count: number): number {
  // The probability that at most `k` of `count` values are below the true median, or at most `k` are above it. In both
  // cases, the true median is outside an interval that excludes the `k` smallest and `k` largest values.
  let chance = 0;
  let combinations = 1;
  for (let k = 0; ; k++) {
    chance += (2 * combinations) / 2 ** count;
    if (chance > 1 - confidence) return Math.max(0, k - 1);
    combinations = (combinations * (count - k)) / (k + 1);
  }
}

/**
 * Returns the median and the confidence interval of the ratio in each pair of rounds. If the machine becomes slower, it
 * slows down both rounds of a pair, so the ratio stays the same.
 */
export const ratioOfPairs = (ours: readonly number[], theirs: readonly number[]): Spread =>
  spreadOf(ours.map((value, pair) => value / theirs[pair]!));

/**
 * Decides whether a figure meets its goal. The result is undefined for a figure without a goal. A figure without a
 * confidence interval is itself compared with the goal.
 */
export function verdictOf(figure: Omit<Figure, 'text'>): Verdict | undefined {
  if (figure.least === undefined && figure.most === undefined) return undefined;
  const { value, low = value, high = value, least = -Infinity, most = Infinity } = figure;
  if (low >= least && high <= most) return 'met';
  return high < least || low > most ? 'missed' : 'undecided';
}

/**
 * Measures at least `least` and at most `most` pairs of rounds. It stops when it is clear for every figure whether its
 * goal is met. It checks this only when the number of pairs has doubled, because a check after each pair would more
 * often stop by chance.
 *
 * @param measurePair measures one pair
 * @param figures returns the figures of all pairs so far
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

/** Returns items in random order. The servers of a case then have no fixed order. */
export const inRandomOrder = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
