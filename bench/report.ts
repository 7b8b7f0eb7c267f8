import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Limit } from './limits.ts';
import { type Figure, type Spread, verdictOf } from './pairs.ts';

/**
 * The measurements of one server in a benchmark case. The server is the gateway or a server with which the benchmark
 * compares the gateway. The values `perSecond`, `p50` and `p99` are medians over all repetitions of the measurement.
 */
export interface SideFigures {
  label: string;
  perSecond: number;
  p50: number;
  p99: number;
  /** The maximum memory of the server in all repetitions of the measurement, in MiB. */
  peakMemory: number;
  /** The processor time that the server needs for one request, in microseconds. */
  processorMicroseconds: number;
  /**
   * For each repetition of the measurement, the processor time that the server needed for one request, in microseconds.
   */
  processorTimes: number[];
  /** The requests per second in each repetition of the measurement. */
  rates: number[];
  p99s: number[];
}

/** The measurements and figures of one benchmark case. */
export interface CaseResult {
  name: string;
  title: string;
  sides: SideFigures[];
  /** The numbers that the benchmark measures, stores, and compares with the numbers of later runs. */
  figures: Figure[];
  /**
   * The speeds of programs that do less work than the gateway. They show the highest possible speed of this machine in
   * this benchmark case.
   */
  limits?: Limit[];
  /**
   * Lines of text that the report shows below the figures: additional figures, or the reason why the benchmark case was
   * not measured.
   */
  notes?: string[];
}

/** The results of a benchmark run with all its cases. */
export interface Report {
  at: string;
  settings: Record<string, string | number>;
  cases: CaseResult[];
}

const number = (value: number, digits = 0) =>
  Number.isFinite(value) ? value.toLocaleString('en', { maximumFractionDigits: digits }) : '–';

/** Returns a measured number and its confidence interval as text. */
export function spreadText({ value, low, high }: Partial<Spread> & { value: number }): string {
  return low === undefined || high === undefined
    ? number(value, 2)
    : `${number(value, 2)} (${number(low, 2)} to ${number(high, 2)})`;
}

/** Returns the goal for a measured number as text, or an empty text if the number has no goal. */
export function goalText({ least, most }: Pick<Figure, 'least' | 'most'>): string {
  if (least !== undefined && least === most) return number(least);
  if (least !== undefined) return `≥ ${number(least, 2)}`;
  return most === undefined ? '' : `≤ ${number(most, 2)}`;
}

function figureText(figure: Figure): string {
  const verdict = verdictOf(figure);
  const shown = `${figure.text} ${spreadText(figure)}`;
  if (verdict === undefined) return shown;
  return `${(verdict === 'met' ? verdict : verdict.toUpperCase()).padEnd(9)} ${shown}, goal ${goalText(figure)}`;
}

/**
 * Returns a line of text with the speed of a program that does less work than the gateway. The line also contains the
 * ratio of the gateway speed to this speed.
 */
const limitText = ({ label, perSecond, reached }: Limit) =>
  `limit: ${label} ${number(perSecond)}/s; the gateway reaches ${spreadText(reached)} of it`;

/** Returns the results of a benchmark case as lines of text. */
export function caseLines({ title, sides, figures, limits = [], notes = [] }: CaseResult): string {
  const rows = sides.map((side) =>
    [
      `  ${side.label.padEnd(24)}`,
      `${number(side.perSecond).padStart(8)}/s`,
      `p50 ${number(side.p50, 1).padStart(7)} ms`,
      `p99 ${number(side.p99, 1).padStart(7)} ms`,
      `${number(side.peakMemory).padStart(5)} MiB`,
      `cpu ${number(side.processorMicroseconds).padStart(6)} µs`,
    ].join('  '),
  );
  return [
    title,
    ...rows,
    ...figures.map((figure) => `  ${figureText(figure)}`),
    ...limits.map((limit) => `  ${limitText(limit)}`),
    ...notes.map((note) => `  ${note}`),
  ].join('\n');
}

/** Writes the results of a benchmark run to a JSON file, and returns the path of the file. */
export async function writeReport(report: Report): Promise<string> {
  const folder = new URL('results/', import.meta.url);
  await mkdir(folder, { recursive: true });
  const file = fileURLToPath(new URL(`${report.at.replaceAll(':', '-')}.json`, folder));
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  return file;
}
