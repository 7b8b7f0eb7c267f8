/** The median of several values, with the bounds of its confidence interval. */
export interface Spread {
  value: number;
  low: number;
  high: number;
}

/** A figure of a case, with its spread when it was measured in pairs, and with its goal when it has one. */
export interface Figure extends Partial<Spread> {
  text: string;
  value: number;
  /** The goal: a lower bound, or an upper bound. */
  least?: number;
  most?: number;
}

/** Whether a figure meets its goal; undecided when the goal lies within the spread. */
export type Verdict = 'met' | 'missed' | 'undecided';

/**
 * The most pairs of a case. Four times as many pairs halve the width of the interval, so 40 pairs halve the width of
 * nine. A figure that is still undecided is so close to its goal that a decision would need hundreds of pairs, an hour
 * per case.
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
 * The median of values and its confidence interval by the sign test, which assumes no distribution of the noise
 * (https://en.wikipedia.org/wiki/Sign_test). Fewer than six values cannot reach the confidence level; the bounds are
 * then the least and the greatest value.
 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const leftOut = leftOutAtEachEnd(sorted.length);
  return { value: median(sorted), low: sorted[leftOut]!, high: sorted.at(-1 - leftOut)! };
}

/** How many of the least, and of the greatest, values lie outside the interval. */
function leftOutAtEachEnd(count: number): number {
  // The probability that at most `k` of `count` values lie below the true median, or above it. In these cases an
  // interval without the `k` outer values does not contain it.
  let chance = 0;
  let combinations = 1;
  for (let k = 0; ; k++) {
    chance += (2 * combinations) / 2 ** count;
    if (chance > 1 - confidence) return Math.max(0, k - 1);
    combinations = (combinations * (count - k)) / (k + 1);
  }
}

/** The spread of the ratios of each pair of rounds, so that a slowdown of both sides cancels out. */
export const ratioOfPairs = (ours: readonly number[], theirs: readonly number[]): Spread =>
  spreadOf(ours.map((value, pair) => value / theirs[pair]!));

/** Decides whether a figure meets its goal; undefined without a goal. Without a spread, the value itself is compared. */
export function verdictOf(figure: Omit<Figure, 'text'>): Verdict | undefined {
  if (figure.least === undefined && figure.most === undefined) return undefined;
  const { value, low = value, high = value, least = -Infinity, most = Infinity } = figure;
  if (low >= least && high <= most) return 'met';
  return high < least || low > most ? 'missed' : 'undecided';
}

/**
 * Measures between `least` and `most` pairs, until the goal of every figure is met or missed. The goals are checked each
 * time the number of pairs has doubled. A check after each pair would stop more often by chance.
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

/** The items in random order, so that no side always comes first. */
export const inRandomOrder = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
