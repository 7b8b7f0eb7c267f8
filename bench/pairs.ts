/** The median of several values, with the bounds of its confidence interval. */
export interface Spread {
  value: number;
  low: number;
  high: number;
}

/** A figure of a case. It has a spread if it was measured in pairs, and a goal if the case has one. */
export interface Figure extends Partial<Spread> {
  text: string;
  value: number;
  /** The goal of the figure, which is a lower bound (`least`) or an upper bound (`most`). */
  least?: number;
  most?: number;
}

/** Whether a figure meets its goal. The verdict is undecided when the goal lies within the spread. */
export type Verdict = 'met' | 'missed' | 'undecided';

/**
 * The maximum number of pairs of a case. Four times as many pairs halve the width of the confidence interval, so 40
 * pairs give half the width of nine pairs. If a figure is still undecided, it is so close to its goal that a decision
 * would need hundreds of pairs, which is an hour per case.
 */
export const maxPairs = 40;

/** The confidence level: the share of runs in which the true median lies between the bounds. */
const confidence = 0.95;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Returns the median of values and its confidence interval by the sign test, which assumes no distribution of the noise
 * (https://en.wikipedia.org/wiki/Sign_test). Fewer than six values cannot reach the confidence level. The bounds are
 * then the smallest and the largest value.
 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const leftOut = leftOutAtEachEnd(sorted.length);
  return { value: median(sorted), low: sorted[leftOut]!, high: sorted.at(-1 - leftOut)! };
}

/**
 * Returns how many of the smallest values lie outside the confidence interval. The same number of the largest values
 * does.
 */
function leftOutAtEachEnd(count: number): number {
  // The probability that at most `k` of `count` values lie below the true median, or that at most `k` lie above it. In
  // both cases, an interval without the `k` outer values does not contain the true median.
  let chance = 0;
  let combinations = 1;
  for (let k = 0; ; k++) {
    chance += (2 * combinations) / 2 ** count;
    if (chance > 1 - confidence) return Math.max(0, k - 1);
    combinations = (combinations * (count - k)) / (k + 1);
  }
}

/** Returns the spread of the ratio in each pair of rounds. A slowdown of both sides cancels out in a ratio. */
export const ratioOfPairs = (ours: readonly number[], theirs: readonly number[]): Spread =>
  spreadOf(ours.map((value, pair) => value / theirs[pair]!));

/**
 * Decides whether a figure meets its goal. The result is undefined for a figure without a goal. If the figure has no
 * spread, its value is compared with the goal.
 */
export function verdictOf(figure: Omit<Figure, 'text'>): Verdict | undefined {
  if (figure.least === undefined && figure.most === undefined) return undefined;
  const { value, low = value, high = value, least = -Infinity, most = Infinity } = figure;
  if (low >= least && high <= most) return 'met';
  return high < least || low > most ? 'missed' : 'undecided';
}

/**
 * Measures between `least` and `most` pairs, until the goal of every figure is met or missed. The goals are checked
 * each time the number of pairs has doubled, because a check after each pair would more often stop by chance.
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

/** Returns items in random order, so that no side always comes first. */
export const inRandomOrder = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
