import { readFile, writeFile } from 'node:fs/promises';
import { type Figure, type Spread, type Verdict, verdictOf } from './pairs.ts';
import type { CaseResult } from './report.ts';
import type { DatabaseKind } from './target.ts';

// The figures of earlier benchmark runs are stored in JSON files in this repository. The pages in bench/ have tables
// with the recorded figures, and each new benchmark run is compared with the recorded figures.

/** The date, the machine and the software versions of the benchmark run that measured the recorded figures. */
export interface Measured {
  /** The date of the benchmark run. */
  at: string;
  machine: string;
  database: string;
}

/**
 * The recorded figures. `recorded[kind][name]` contains the figures of the benchmark case `name` on the database kind
 * `kind`.
 */
export type Recorded<Entry> = Record<DatabaseKind, Record<string, Measured & Entry>>;

/** The recorded figures of one benchmark case. */
export interface RecordedCase {
  title: string;
  figures: (Figure & { verdict?: Verdict })[];
}

/**
 * The effect of one kind of expensive request on gate decisions. A client sends these requests until it has used up the
 * rate limit of one API key.
 */
export interface RecordedWorst {
  delayMs: number;
  growthMiB: number;
  /**
   * The 99th percentile (p99) of the gate decision times during the expensive requests, divided by the p99 without
   * expensive requests.
   */
  p99Ratio: number;
  failures: number;
}

/** The cost of a request in rate limit points, and the processor time of the request. */
export interface RecordedCost {
  points: number;
  /** True if the contract (docs/contract-keys.md) defines how many rate limit points the request costs. */
  priceOfContract: boolean;
  gatewayMs: number;
  /**
   * The processor time of PostgreSQL in milliseconds; `undefined` for the embedded database, which runs in the gateway
   * process.
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
 * Adds the figures of a benchmark run to a file with recorded figures. If the benchmark run did not measure a figure,
 * the file keeps the recorded figure of an earlier run. Figures whose name is not in `known` are removed from the file.
 *
 * @param known the names of all figures that the file may contain, in the order of the tables in the pages of bench/
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
  console.log('Recorded. `npm run bench:figures` writes the tables of the pages in bench/.');
}

/**
 * Converts the figures of a benchmark case to the format of the file with recorded figures. Returns `undefined` when
 * the benchmark case has no figures.
 */
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
 * Returns a line of text for each figure of a benchmark case that is worse than the recorded figure. A figure is worse
 * only if its confidence interval does not overlap with the recorded confidence interval. Figures without a confidence
 * interval are not compared.
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
