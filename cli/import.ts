import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { SingleBar } from 'cli-progress';
import { type Command, Option } from 'commander';
import { DateTimeISOResolver } from 'graphql-scalars';
import type { Stringifier } from 'csv-stringify';
import { exitCode, Failure } from './failure.ts';
import { type ImportMode, ImportEntriesDocument } from './generated/operations.ts';
import { wholeNumber } from './keys.ts';
import type { Session } from './session.ts';
import { createCsvWriter, entryColumns, readRows, rejectionColumns, type Row } from './whitelist-csv.ts';

/** The most rows of one call. */
const largestBatch = 10_000;
const modes = ['create', 'upsert', 'replace'] as const;

interface ImportOptions {
  location: string;
  mode: (typeof modes)[number];
  dryRun: boolean;
  rejects?: string;
  batchSize: number;
}

interface Rejection {
  code: string;
  message: string;
  field?: string | null;
  value?: unknown;
}

/** Writes rejected rows to a file, which is made with the first of them. */
function createRejects(path: string) {
  let writer: Stringifier | undefined;
  let written: Promise<void> | undefined;
  return {
    add({ line, entry }: Row, { code, message, field, value }: Rejection): void {
      if (!writer) {
        writer = createCsvWriter([...entryColumns, ...rejectionColumns]);
        written = pipeline(writer, createWriteStream(path));
      }
      const shown = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
      writer.write({ ...entry, line, field, code, message, value: shown });
    },
    async close(): Promise<void> {
      writer?.end();
      await written;
    },
  };
}

/** Shows how far a file is read, on a terminal. */
function createProgress(file: string, { err }: Session['streams']) {
  if (!err.isTTY) return { show: () => undefined, stop: () => undefined };
  const bar = new SingleBar({
    stream: err,
    format: '{bar} {percentage}% | {rows} rows | {eta_formatted} left',
    etaBuffer: 100,
  });
  bar.start(statSync(file).size, 0, { rows: 0 });
  return {
    show: (bytes: number, rows: number) => bar.update(bytes, { rows }),
    stop: () => bar.stop(),
  };
}

/** A time that is none would fail the whole call: the graph never looks at its rows. */
function timeFault({ entry }: Row): Rejection | undefined {
  for (const field of ['validFrom', 'validUntil'] as const) {
    const value = entry[field];
    try {
      if (value !== null) DateTimeISOResolver.parseValue(value);
    } catch {
      const message = 'Must be an ISO 8601 date and time with an offset, such as 2026-01-31T08:00:00Z';
      return { code: 'VALIDATION_ERROR', message, field, value };
    }
  }
  return undefined;
}

/** The rows of a file in batches, without those that are rejected before they are sent. */
async function* batchesOf(
  rows: AsyncIterable<Row>,
  size: number,
  reject: (row: Row, rejection: Rejection) => void,
): AsyncGenerator<Row[]> {
  const lineOfPlate = new Map<string, number>();
  let batch: Row[] = [];
  for await (const row of rows) {
    const { plateType, plateCode, plateNumber } = row.entry;
    const plate = JSON.stringify([plateType, plateCode, plateNumber]);
    const earlier = lineOfPlate.get(plate);
    const fault =
      earlier === undefined
        ? timeFault(row)
        : { code: 'DUPLICATE_VEHICLE', message: `Line ${earlier} has the same plate` };
    if (fault) {
      reject(row, fault);
      continue;
    }
    lineOfPlate.set(plate, row.line);
    batch.push(row);
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** REPLACE is all or nothing, and so one call: all rows of the file, if they are not too many. */
async function onlyBatch(batches: AsyncGenerator<Row[]>): Promise<Row[]> {
  const { value: batch = [] } = await batches.next();
  const { done } = await batches.next();
  if (done) return batch;
  throw new Failure(
    `A file to replace a whitelist with has at most ${largestBatch} rows: a whitelist is replaced at once or not at all. Nothing was sent.`,
    exitCode.usage,
  );
}

async function importFile(file: string, options: ImportOptions, session: Session): Promise<number> {
  const { location, mode, dryRun, rejects: rejectsPath = `${file}.rejected.csv`, batchSize } = options;
  const { client, output, streams } = session;
  const totals = { created: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 };
  const rejects = createRejects(rejectsPath);
  const reject = (row: Row, rejection: Rejection) => {
    totals.rejected += 1;
    rejects.add(row, rejection);
  };

  async function send(batch: Row[]): Promise<void> {
    const { importWhitelistEntries: result } = await client.run(
      ImportEntriesDocument,
      {
        locationId: location,
        entries: batch.map(({ entry }) => entry),
        mode: mode.toUpperCase() as ImportMode,
        dryRun,
      },
      // Repeated, CREATE would call a duplicate what a lost answer had created.
      { repeatable: dryRun || mode !== 'create' },
    );
    totals.created += result.created;
    totals.updated += result.updated;
    totals.unchanged += result.unchanged;
    totals.deleted += result.deleted;
    for (const { index, error } of result.rows) if (error) reject(batch[index]!, error);
  }

  const stream = createReadStream(file);
  const progress = createProgress(file, streams);
  let rows = 0;
  try {
    const batches = batchesOf(readRows(stream), mode === 'replace' ? largestBatch : batchSize, reject);
    const all = mode === 'replace' ? [await onlyBatch(batches)] : batches;
    for await (const batch of all) {
      if (mode === 'replace' && totals.rejected > 0) {
        output.say('Nothing was replaced: first every row must be right.');
        break;
      }
      await send(batch).catch((error: Error) => {
        const [first, last] = [batch[0]?.line, batch.at(-1)?.line];
        throw new Failure(
          `Lines ${first} to ${last} failed; what stands before them is done.\n${error.message}`,
        );
      });
      rows += batch.length;
      progress.show(stream.bytesRead, rows);
    }
  } finally {
    progress.stop();
    await rejects.close();
  }
  output.one(totals, {
    created: 'created',
    updated: 'updated',
    unchanged: 'unchanged',
    deleted: 'deleted',
    rejected: 'rejected',
  });
  if (dryRun) output.say('This was a dry run: nothing was changed.');
  if (totals.rejected === 0) return exitCode.done;
  output.say(`Rejected rows, and why: ${rejectsPath}`);
  return exitCode.rejected;
}

/** Adds `import`. */
export function addImportCommand(program: Command, open: () => Session, end: (code: number) => void): void {
  program
    .command('import')
    .description(`import a whitelist from CSV with the columns ${entryColumns.join(', ')}`)
    .argument('<file>', 'the CSV file')
    .requiredOption('--location <id>', 'the location')
    .addOption(
      new Option(
        '--mode <mode>',
        'create: only new plates; upsert: new plates and changes; replace: the whitelist becomes the file',
      )
        .choices(modes)
        .default('create'),
    )
    .option('--dry-run', 'say what would happen and change nothing', false)
    .option('--rejects <file>', 'where to write rejected rows; beside the file when left out')
    .addOption(
      new Option('--batch-size <rows>', `rows of one call, at most ${largestBatch}`)
        .argParser((value) => Math.min(Math.max(wholeNumber(value), 1), largestBatch))
        .default(5000),
    )
    .action(async (file: string, options: ImportOptions) => end(await importFile(file, options, open())));
}
