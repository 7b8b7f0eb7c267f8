// `npm run bench:figures` writes the tables of the pages in this folder and the file chart.svg from the recorded
// figures. `npm run bench:figures:check` fails when one of these files is out of date.
import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { drawChart } from './chart.ts';
import { markdownTable } from './markdown-table.ts';
import {
  type Measured,
  readRecorded,
  type Recorded,
  type RecordedCase,
  type RecordedCost,
  recordedFiles,
  type RecordedWorst,
} from './recorded.ts';
import { goalText, spreadText } from './report.ts';
import { costTable } from './request-costs/table.ts';
import { worstTable } from './worst-requests/table.ts';

/** Returns the figures of all benchmark cases as a Markdown table. Figures that miss their goal are shown in bold. */
const caseTable = (cases: Record<string, RecordedCase>): string =>
  markdownTable(
    ['case', 'figure', 'value (bounds)', 'goal', 'verdict'],
    Object.values(cases).flatMap(({ title, figures }) =>
      figures.map((figure, index) => [
        index === 0 ? title : '',
        figure.text,
        spreadText(figure),
        goalText(figure),
        figure.verdict === 'missed' ? '**missed**' : (figure.verdict ?? ''),
      ]),
    ),
  );

/**
 * Returns a line of Markdown for each benchmark run, with the date, the machine and the software versions of the run.
 */
function runsOf(entries: Record<string, Measured>): string {
  const names = new Map<string, string[]>();
  for (const [name, { at, machine, database }] of Object.entries(entries)) {
    const run = `${at}, ${machine}, ${database}`;
    names.set(run, [...(names.get(run) ?? []), name]);
  }
  const all = [...names].toSorted(([, a], [, b]) => b.length - a.length);
  return all.map(([run, of], index) => `- ${run}${index === 0 ? '' : `: ${of.join(', ')}`}`).join('\n');
}

/** Returns the recorded figures as Markdown: one section for PostgreSQL, and one for the embedded database. */
const sections = <Entry>(recorded: Recorded<Entry>, tableOf: (entries: Record<string, Entry>) => string) =>
  Object.entries(recorded)
    .filter(([, entries]) => Object.keys(entries).length > 0)
    .map(
      ([kind, entries]) =>
        `**On ${kind === 'embedded' ? 'the embedded database' : kind}**\n\n${tableOf(entries)}\n\n${runsOf(entries)}`,
    )
    .join('\n\n');

const cases = await readRecorded<RecordedCase>(recordedFiles.cases);

/** Maps each page to its tables. */
const tables = {
  'README.md': sections(cases, caseTable),
  'worst-requests/README.md': sections(await readRecorded<RecordedWorst>(recordedFiles.worst), worstTable),
  'request-costs/README.md': sections(await readRecorded<RecordedCost>(recordedFiles.costs), costTable),
};

const read = (name: string) => readFile(new URL(name, import.meta.url), 'utf8');

/** Returns the text of a page with the given tables. In the page, HTML comments mark the place of the tables. */
async function pageWithTables(page: string, table: string): Promise<string> {
  const text = await read(page);
  const [start, end] = ['<!-- figures -->', '<!-- end of figures -->'];
  const from = text.indexOf(start) + start.length;
  const to = text.indexOf(end, from);
  if (from < start.length || to < 0) throw new Error(`bench/${page} has no ${start} … ${end}`);
  const replaced = `${text.slice(0, from)}\n\n${table}\n\n${text.slice(to)}`;
  return format(replaced, { ...(await resolveConfig('README.md')), parser: 'markdown' });
}

const texts: Record<string, string> = { 'chart.svg': drawChart(cases['PostgreSQL and Redis']) };
for (const [page, table] of Object.entries(tables)) texts[page] = await pageWithTables(page, table);

for (const [name, text] of Object.entries(texts)) {
  if (!process.argv.includes('--check')) {
    await writeFile(new URL(name, import.meta.url), text);
  } else if ((await read(name)) !== text) {
    console.error(
      `bench/${name} differs from the recorded figures: run \`npm run bench:figures\` and commit it.`,
    );
    process.exitCode = 1;
  }
}
