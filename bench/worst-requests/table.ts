import { markdownTable } from '../markdown-table.ts';
import type { RecordedWorst } from '../recorded.ts';
import type { AttackResult } from './measure.ts';

// The constants `mostDelayMs` and `mostRatio` limit how much one API key may slow down the gate decisions of other
// companies.

const mostDelayMs = 250;
const mostRatio = 5;
const mostGrowthMiB = 300;
/**
 * The number of seconds in which the rate limit allows 100 requests. If the expensive requests use up the rate limit in
 * less than 60 seconds, the remaining seconds count as time without load.
 */
const budgetSeconds = 60;

function p99(delays: readonly number[]): number {
  const sorted = delays.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}

/**
 * Returns the delays of the gate decisions in one minute. The list contains all delays that were measured during the
 * expensive requests. For the rest of the minute, the list contains delays that were measured without load.
 */
function delaysOfMinute({ busy, busySeconds }: AttackResult, quiet: readonly number[]): number[] {
  const perSecond = busy.length / busySeconds;
  const rest = Math.max(0, Math.round((budgetSeconds - busySeconds) * perSecond));
  return [...busy, ...Array.from({ length: rest }, (_, index) => quiet[index % quiet.length]!)];
}

/**
 * Returns the figures of each kind of expensive request, with the name of the kind as the key. The benchmark measures
 * delays without load before each kind of expensive request. The function computes one p99 without load from all delays
 * that were measured without load.
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

const cell = (value: number | undefined, most: number) => {
  if (value === undefined) return '–';
  return value > most ? `**${value}**` : String(value);
};

/**
 * Returns a Markdown table with the figures for each kind of expensive requests. Figures above the maximum are shown in
 * bold.
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
