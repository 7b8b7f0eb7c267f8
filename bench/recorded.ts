import { readFile, writeFile } from 'node:fs/promises';
import { type Figure, type Spread, type Verdict, verdictOf } from './pairs.ts';
import type { CaseResult } from './report.ts';
import type { DatabaseKind } from './target.ts';

// The figures of earlier runs are files in this repository. The tables of README.md show these figures, and new runs
// are compared with them.

/** The date, the machine and the versions with which figures were measured. */
export interface Measured {
  /** The date of the measurement. */
  at: string;
  machine: string;
  database: string;
}

/** The recorded figures for each kind of database, by the name of the case. */
export type Recorded<Entry> = Record<DatabaseKind, Record<string, Measured & Entry>>;

/** The recorded figures of one case. */
export interface RecordedCase {
  title: string;
  figures: (Figure & { verdict?: Verdict })[];
}

/** How one kind of request affects gate decisions, while an API key uses up its rate limit with such requests. */
export interface RecordedWorst {
  delayMs: number;
  growthMiB: number;
  /**
   * The p99 of gate decisions during the minute of these requests, divided by the p99 without load. It is omitted for
   * kinds of requests that are within the limits.
   */
  p99Ratio?: number;
  failures?: number;
}

/** The price of a request in rate limit points, and its processor time. */
export interface RecordedCost {
  points: number;
  /** Whether the contract fixes the price of the request in rate limit points. */
  priceOfContract: boolean;
  gatewayMs: number;
  /**
   * The processor time of PostgreSQL in milliseconds. It is undefined for the embedded database, which has no process
   * of its own.
   */
  postgresMs?: number;
}

export const recordedFiles = {
  cases: new URL('recorded.json', import.meta.url),
  worst: new URL('worst-requests/recorded.json', import.meta.url),
  costs: new URL('request-costs/recorded.json', import.meta.url),
};

/** Reads a file with recorded figures. */
export async function readRecorded<Entry>(file: URL): Promise<Recorded<Entry>> {
  return JSON.parse(await readFile(file, 'utf8')) as Recorded<Entry>;
}

/**
 * Adds the figures of a run to a file. Other figures of the same database are kept, except those with unknown names.
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

/** Returns the figures of a case for the file, or undefined when the case has none. */
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

/** Returns a figure and its confidence interval, rounded to three significant digits. */
const rounded = ({ value, low, high }: Figure): Partial<Spread> =>
  Object.fromEntries(
    Object.entries({ value, low, high })
      .filter(([, part]) => part !== undefined)
      .map(([name, part]) => [name, Number(part!.toPrecision(3))]),
  );

/**
 * Returns a line of text for each figure that has become worse. A figure counts as worse if its whole confidence
 * interval lies on the worse side of the recorded interval. Figures without a confidence interval are not compared.
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
