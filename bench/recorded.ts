import { readFile, writeFile } from 'node:fs/promises';
import { type Figure, type Spread, type Verdict, verdictOf } from './pairs.ts';
import type { CaseResult } from './report.ts';
import type { DatabaseKind } from './target.ts';

// The figures of earlier runs are committed. The tables of README.md are written from these figures, and new runs are
// compared with them.

/** The date, machine and versions of a measurement. */
export interface Measured {
  /** The date of the measurement. */
  at: string;
  machine: string;
  database: string;
}

/** The records for each kind of database, by name. */
export type Recorded<Entry> = Record<DatabaseKind, Record<string, Measured & Entry>>;

/** The record of a case. */
export interface RecordedCase {
  title: string;
  figures: (Figure & { verdict?: Verdict })[];
}

/** The effects of one kind of request on gate decisions, while a key spends its rate limit budget on such requests. */
export interface RecordedWorst {
  delayMs: number;
  growthMiB: number;
  /**
   * The ratio of the p99 of gate decisions in the minute of the budget to the p99 without load. The ratio is omitted
   * for groups of requests within the bar.
   */
  p99Ratio?: number;
  failures?: number;
}

/** The cost of a request in points and in processor time. */
export interface RecordedCost {
  points: number;
  /** Whether the contract fixes the number of points. */
  priceOfContract: boolean;
  gatewayMs: number;
  /**
   * The processor time of PostgreSQL in milliseconds. It is undefined for the embedded database, which has no processes
   * of its own.
   */
  postgresMs?: number;
}

export const recordedFiles = {
  cases: new URL('recorded.json', import.meta.url),
  worst: new URL('worst-requests/recorded.json', import.meta.url),
  costs: new URL('request-costs/recorded.json', import.meta.url),
};

/** Reads a file of records. */
export async function readRecorded<Entry>(file: URL): Promise<Recorded<Entry>> {
  return JSON.parse(await readFile(file, 'utf8')) as Recorded<Entry>;
}

/**
 * Records the entries of a run. Other entries of the same database are kept, except entries with unknown names.
 *
 * @param known all known names, in the order of the tables
 */
export async function record<Entry>(
  file: URL,
  { kind, measured, known }: { kind: DatabaseKind; measured: Measured; known: readonly string[] },
  entries: Record<string, Entry>,
): Promise<void> {
  const recorded = await readRecorded<Entry>(file);
  const before = recorded[kind];
  recorded[kind] = {};
  for (const name of known) {
    const entry = entries[name] ? { ...measured, ...entries[name] } : before[name];
    if (entry) recorded[kind][name] = entry;
  }
  await writeFile(file, `${JSON.stringify(recorded, null, 2)}\n`);
  console.log('Recorded. `npm run bench:figures` writes the tables of bench/README.md.');
}

/** Returns the record of a case, or undefined when the case has no figures. */
export function recordedCase({ title, figures }: CaseResult): RecordedCase | undefined {
  if (figures.length === 0) return undefined;
  return {
    title,
    figures: figures.map((figure) => {
      const verdict = verdictOf(figure);
      return { ...figure, ...rounded(figure), ...(verdict && { verdict }) };
    }),
  };
}

/** Returns the value and bounds of a figure, rounded to three significant digits. */
const rounded = ({ value, low, high }: Figure): Partial<Spread> =>
  Object.fromEntries(
    Object.entries({ value, low, high })
      .filter(([, part]) => part !== undefined)
      .map(([name, part]) => [name, Number(part!.toPrecision(3))]),
  );

/**
 * Returns a line of text for each figure that is worse than the recorded figure, because their spreads do not overlap.
 * Figures without a spread are not compared.
 */
export function worseThanRecorded(
  { name, figures }: CaseResult,
  recorded: RecordedCase | undefined,
): string[] {
  return figures.flatMap((figure) => {
    const then = recorded?.figures.find(({ text }) => text === figure.text);
    const now = rounded(figure);
    if (then?.low === undefined || then.high === undefined || now.low === undefined || now.high === undefined)
      return [];
    const isWorse = figure.most === undefined ? now.high < then.low : now.low > then.high;
    return isWorse
      ? [`${name}: ${figure.text} ${now.low} to ${now.high}, recorded ${then.low} to ${then.high}`]
      : [];
  });
}
