import { markdownTable } from '../markdown-table.ts';
import type { RecordedWorst } from '../recorded.ts';
import type { AttackResult } from './measure.ts';

// While one API key sends expensive requests, the benchmark measures gate decisions for companies that send no
// expensive requests. The delays of these gate decisions during the expensive requests must not exceed the limits
// `mostDelayMs` and `mostRatio`.

const mostDelayMs = 250;
const mostRatio = 5;
const mostGrowthMiB = 300;
/**
 * The length of the short rate limit window, in seconds. A client can use up the rate limit of its API key in less than
 * 60 seconds. After the client has used up the rate limit, the gateway accepts no requests with this API key until the
 * rate limit window ends.
 */
const budgetSeconds = 60;

function p99(delays: readonly number[]): number {
  const sorted = delays.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}

/**
 * Returns the delays of gate decisions in one rate limit window. The first delays in the returned list were measured
 * during the expensive requests. No expensive requests run in the rest of the window. For this rest, the function
 * repeats the delays that were measured without expensive requests.
 */
function delaysOfMinute({ busy, busySeconds }: AttackResult, quiet: readonly number[]): number[] {
  const perSecond = busy.length / busySeconds;
  const rest = Math.max(0, Math.round((budgetSeconds - busySeconds) * perSecond));
  return [...busy, ...Array.from({ length: rest }, (_, index) => quiet[index % quiet.length]!)];
}

/**
 * Maps the name of each kind of expensive request to its figures. Before each kind of expensive request, the benchmark
 * measures gate decisions while it sends no expensive requests. The function combines all measurements without
 * expensive requests, and computes one 99th percentile (p99) of their delays. It compares every kind of expensive
 * request with this p99.
 */
export function figuresOf(results: readonly AttackResult[]): Record<string, RecordedWorst> {
  const quiet = results.flatMap((result) => result.quiet);
  return Object.fromEntries(
    results.map((result) => [
      result.attack,
      {
        delayMs: Math.round(Math.max(result.largestOfOne, ...result.busy)),
        growthMiB: Math.round(result.growth),
        p99Ratio: Number((p99(delaysOfMinute(result, quiet)) / p99(quiet)).toFixed(1)),
        failures: result.failures,
      },
    ]),
  );
}

const cell = (value: number, most: number) => (value > most ? `**${value}**` : String(value));

/**
 * Returns a Markdown table with the figures of each kind of expensive request. A figure above its maximum value (such
 * as `mostDelayMs`) is shown in bold.
 */
export const worstTable = (figures: Record<string, RecordedWorst>): string =>
  markdownTable(
    [
      'request',
      `delay, ms (≤ ${mostDelayMs})`,
      `p99 ÷ quiet p99 (≤ ${mostRatio})`,
      `memory, MiB (≤ ${mostGrowthMiB})`,
      'failed decisions (0)',
    ],
    Object.entries(figures).map(([name, { delayMs, p99Ratio, growthMiB, failures }]) => [
      name,
      cell(delayMs, mostDelayMs),
      cell(p99Ratio, mostRatio),
      cell(growthMiB, mostGrowthMiB),
      cell(failures, 0),
    ]),
  );
