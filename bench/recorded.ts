import { readFile, writeFile } from 'node:fs/promises';
import type { Spread } from './pairs.ts';
import type { CaseResult, Report } from './report.ts';

// Figures of an earlier run, kept in the tree: what became worse is named.

/** A figure that can be compared from run to run. */
interface RecordedFigure extends Spread {
  /** Which way is worse. */
  better: 'higher' | 'lower';
}

/** The figures of the tree: by case, and there by what they are. */
export interface Recorded {
  at: string;
  machine: string;
  figures: Record<string, Record<string, RecordedFigure>>;
}

const file = new URL('recorded.json', import.meta.url);

/** The figures that the tree has. */
export async function readRecorded(): Promise<Recorded> {
  return JSON.parse(await readFile(file, 'utf8')) as Recorded;
}

/** Puts the figures of a run into the tree. Cases that were not measured keep theirs. */
export async function writeRecorded({ at, settings, cases }: Report): Promise<void> {
  const { figures } = await readRecorded();
  for (const result of cases) {
    const found = figuresOf(result);
    if (Object.keys(found).length > 0) figures[result.name] = found;
  }
  const recorded: Recorded = { at, machine: String(settings.machine), figures };
  await writeFile(file, `${JSON.stringify(recorded, null, 2)}\n`);
}

/** The figures of a case that have a spread: of others nobody can say whether they changed. */
function figuresOf({ ratio, goals }: CaseResult): Record<string, RecordedFigure> {
  const figures: Record<string, RecordedFigure> = {};
  if (ratio) figures['requests per second to peer'] = { ...rounded(ratio), better: 'higher' };
  for (const { text, value, low, high, most } of goals) {
    if (low === undefined || high === undefined || text in figures) continue;
    figures[text] = { ...rounded({ value, low, high }), better: most === undefined ? 'higher' : 'lower' };
  }
  return figures;
}

const rounded = ({ value, low, high }: Spread): Spread => ({
  value: Number(value.toPrecision(3)),
  low: Number(low.toPrecision(3)),
  high: Number(high.toPrecision(3)),
});

/** What became worse than recorded by more than its spread, as lines of text: the two spreads do not touch. */
export function worseThanRecorded(result: CaseResult, recorded: Recorded): string[] {
  const before = recorded.figures[result.name] ?? {};
  return Object.entries(figuresOf(result)).flatMap(([text, now]) => {
    const then = before[text];
    const isWorse = then && (now.better === 'higher' ? now.high < then.low : now.low > then.high);
    return isWorse
      ? [`${result.name}: ${text} ${now.low} to ${now.high}, recorded ${then.low} to ${then.high}`]
      : [];
  });
}
