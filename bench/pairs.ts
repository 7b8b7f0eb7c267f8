/** A figure with its spread: the median of several values, and the bounds between which the true median is likely to lie. */
export interface Spread {
  value: number;
  low: number;
  high: number;
}

/** Whether a figure keeps its goal; undecided when the goal lies within the spread. */
export type Verdict = 'met' | 'missed' | 'undecided';

/** How sure the bounds are: the true median lies between them in so many of all runs. */
const confidence = 0.95;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * The median of values and its confidence interval by the sign test, which assumes nothing of how noise is
 * distributed (https://en.wikipedia.org/wiki/Sign_test). Fewer than six values cannot be that sure: the bounds are
 * then the least and the greatest.
 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const leftOut = leftOutAtEachEnd(sorted.length);
  return { value: median(sorted), low: sorted[leftOut]!, high: sorted.at(-1 - leftOut)! };
}

/** How many of the least, and of the greatest, values the interval may leave out. */
function leftOutAtEachEnd(count: number): number {
  // The chance that at most `k` of `count` values lie below the true median, or above it: then bounds that leave out
  // `k` values miss it.
  let chance = 0;
  let combinations = 1;
  for (let k = 0; ; k++) {
    chance += (2 * combinations) / 2 ** count;
    if (chance > 1 - confidence) return Math.max(0, k - 1);
    combinations = (combinations * (count - k)) / (k + 1);
  }
}

/** The spread of what one side has to the other in the same pair of rounds: what slows both down cancels out. */
export const ratioOfPairs = (ours: readonly number[], theirs: readonly number[]): Spread =>
  spreadOf(ours.map((value, pair) => value / theirs[pair]!));

/** Tells whether a figure keeps its bounds. One without a spread is its own spread. */
export function verdictOf({
  value,
  low = value,
  high = value,
  least = -Infinity,
  most = Infinity,
}: Partial<Spread> & { value: number; least?: number; most?: number }): Verdict {
  if (low >= least && high <= most) return 'met';
  return high < least || low > most ? 'missed' : 'undecided';
}

/** The same things in a random order, so that neither side always comes first. */
export const inRandomOrder = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
