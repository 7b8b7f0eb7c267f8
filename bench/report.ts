import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Limit } from './limits.ts';
import { type Spread, verdictOf } from './pairs.ts';

/** What was measured of one side of a case: medians over the rounds. */
export interface SideFigures {
  label: string;
  perSecond: number;
  p50: number;
  p99: number;
  /** In MiB, over all rounds. */
  peakMemory: number;
  /** Processor time of the server for each request. */
  processorMicroseconds: number;
  /** Requests per second, and p99, of each round. */
  rates: number[];
  p99s: number[];
}

/** A figure that has a goal; with its spread when it was measured several times. */
export interface GoalFigure extends Partial<Spread> {
  text: string;
  value: number;
  least?: number;
  most?: number;
}

/** What a case found. */
export interface CaseResult {
  name: string;
  title: string;
  sides: SideFigures[];
  /** Requests per second, the first side to the second. */
  ratio?: Spread;
  goals: GoalFigure[];
  /** How many requests per second the machine allows. */
  limits?: Limit[];
  /** Figures without a goal, and why something could not be measured. */
  notes?: string[];
}

/** A whole run. */
export interface Report {
  at: string;
  settings: Record<string, string | number>;
  cases: CaseResult[];
}

/** The machine that measures. */
export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
}

const number = (value: number, digits = 0) =>
  Number.isFinite(value) ? value.toLocaleString('en', { maximumFractionDigits: digits }) : '–';

function spreadText({ value, low, high }: Partial<Spread> & { value: number }): string {
  return low === undefined || high === undefined
    ? number(value, 2)
    : `${number(value, 2)} (${number(low, 2)} to ${number(high, 2)})`;
}

function goalText(goal: GoalFigure): string {
  const bound = goal.least === undefined ? `≤ ${goal.most}` : `≥ ${goal.least}`;
  const verdict = verdictOf(goal);
  const shown = verdict === 'met' ? verdict : verdict.toUpperCase();
  return `${shown.padEnd(9)} ${goal.text} ${spreadText(goal)}, goal ${bound}`;
}

/** A limit, and how much of it the gateway reaches. */
const limitText = ({ label, perSecond, reached }: Limit) =>
  `limit: ${label} ${number(perSecond)}/s; the gateway reaches ${spreadText(reached)} of it`;

/** A case as lines of text. */
export function caseLines({ title, sides, ratio, goals, limits = [], notes = [] }: CaseResult): string {
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
    `${title}${ratio === undefined ? '' : `: ratio ${spreadText(ratio)}`}`,
    ...rows,
    ...goals.map((goal) => `  ${goalText(goal)}`),
    ...limits.map((limit) => `  ${limitText(limit)}`),
    ...notes.map((note) => `  ${note}`),
  ].join('\n');
}

const bench = new URL('./', import.meta.url);

/** Writes a run as JSON; a whole one also as the chart of the README. */
export async function writeReport(report: Report, { chart }: { chart: boolean }): Promise<string> {
  const folder = new URL('results/', bench);
  await mkdir(folder, { recursive: true });
  const file = fileURLToPath(new URL(`${report.at.replaceAll(':', '-')}.json`, folder));
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  if (chart) await writeFile(new URL('chart.svg', bench), drawChart(report));
  return file;
}

const row = 26;
const left = 300;
const right = 70;
const width = 820;
/** What the whole width stands for. */
const largestRatio = 4;

/** One bar for each ratio, on a line that marks where both sides are equal. */
function drawChart({ cases, settings, at }: Report): string {
  const compared = cases.filter(({ ratio }) => ratio !== undefined);
  const scale = (width - left - right) / largestRatio;
  const height = 50 + compared.length * row + 40;
  const equal = left + scale;
  const bars = compared.map(({ title, sides, ratio, goals }, index) => {
    const y = 50 + index * row;
    const length = Math.min(ratio!.value, largestRatio) * scale;
    const color = goals.every((goal) => verdictOf(goal) === 'met') ? '#2f7d4f' : '#b7791f';
    const label = `${title} / ${sides[1]?.label}`;
    return (
      `<text x="${left - 8}" y="${y + 14}" text-anchor="end">${escape(label)}</text>` +
      `<rect x="${left}" y="${y + 3}" width="${length.toFixed(1)}" height="15" fill="${color}"/>` +
      `<text x="${(left + length + 6).toFixed(1)}" y="${y + 14}">${number(ratio!.value, 2)}</text>`
    );
  });
  const bottom = 50 + compared.length * row;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="22" font-size="15">Requests per second, gateway to peer (1 = equal)</text>
${bars.join('\n')}
<line x1="${equal}" y1="40" x2="${equal}" y2="${bottom}" stroke="#555" stroke-dasharray="3 3"/>
<text x="12" y="${bottom + 24}" fill="#555" font-size="11">${escape(`${settings.machine}; Node ${settings.node}, ${settings.database}; ${at.slice(0, 10)}`)}</text>
</svg>
`;
}

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
