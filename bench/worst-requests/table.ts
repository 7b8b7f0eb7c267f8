import type { AttackResult } from './measure.ts';

// The bar: what one key may do to the gate decisions of others.

const mostDelayMs = 250;
const mostRatio = 5;
const mostGrowthMiB = 300;
/** The time for which a budget of 100 requests is: what is left of it is quiet. */
const budgetSeconds = 60;

function p99(delays: readonly number[]): number {
  const sorted = delays.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}

/** Delays of the minute for which the budget is: those while it was spent, and quiet ones for the rest. */
function delaysOfMinute({ busy, busySeconds }: AttackResult, quiet: readonly number[]): number[] {
  const perSecond = busy.length / busySeconds;
  const rest = Math.max(0, Math.round((budgetSeconds - busySeconds) * perSecond));
  return [...busy, ...Array.from({ length: rest }, (_, index) => quiet[index % quiet.length]!)];
}

const head = [
  'request',
  'delay of one, ms',
  `delay, ms (≤ ${mostDelayMs})`,
  `p99 of a minute to quiet (≤ ${mostRatio})`,
  'p99 while it is spent to quiet',
  'spent in, s',
  `memory, MiB (≤ ${mostGrowthMiB})`,
  'failed decisions',
  'bar',
];

/**
 * The figures of an attack as a row of the table.
 *
 * @param quiet delays of decisions in a quiet time; those before the attack when left out
 */
export function rowOf(result: AttackResult, quiet: readonly number[] = result.quiet): string {
  const { attack, largestOfOne, busy, busySeconds, growth, failures } = result;
  const delay = Math.max(largestOfOne, ...busy);
  const ratio = p99(delaysOfMinute(result, quiet)) / p99(quiet);
  const isMet = delay <= mostDelayMs && ratio <= mostRatio && growth <= mostGrowthMiB && failures === 0;
  return lineOf([
    attack,
    largestOfOne.toFixed(0),
    delay.toFixed(0),
    ratio.toFixed(1),
    (p99(busy) / p99(quiet)).toFixed(1),
    busySeconds.toFixed(1),
    growth.toFixed(0),
    String(failures),
    isMet ? 'met' : 'MISSED',
  ]);
}

const lineOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** The figures of all attacks as a table in Markdown, each with whether it keeps the bar. */
export function tableOf(results: readonly AttackResult[]): string {
  const quiet = results.flatMap((result) => result.quiet);
  return [
    `quiet p99 ${p99(quiet).toFixed(1)} ms`,
    lineOf(head),
    lineOf(head.map(() => '---')),
    ...results.map((result) => rowOf(result, quiet)),
  ].join('\n');
}
