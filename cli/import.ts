import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import type { Stringifier } from 'csv-stringify';
import { DateTimeISOResolver } from 'graphql-scalars';
import { withLocation, wholeNumber } from './arguments.ts';
import { exitCode, Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import { type ImportMode, ImportEntriesDocument } from './generated/operations.ts';
import type { Session } from './session.ts';
import { createProgress, openSource } from './source.ts';
import { createCsvWriter, entryColumns, readRows, rejectionColumns, type Row } from './whitelist-csv.ts';

/** The most rows of one call. */
const maxBatchSize = 10_000;
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

/** A row of the file; with a rejection it is not sent. */
interface CheckedRow {
  row: Row;
  rejection?: Rejection | undefined;
}

/** Writes rejected rows to a file, which is made with the first of them. */
function createRejects(path: string) {
  let writer: Stringifier | undefined;
  let written: Promise<void> | undefined;
  return {
    add({ line, fields }: Row, { code, message, field, value }: Rejection): void {
      if (!writer) {
        writer = createCsvWriter([...entryColumns, ...rejectionColumns]);
        written = pipeline(writer, createWriteStream(path));
      }
      const shown = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
      writer.write({ ...fields, line, field, code, message, value: shown });
    },
    async close(): Promise<void> {
      writer?.end();
      await written;
    },
  };
}

/** A field that cannot be read would fail the whole call, and the graph would not look at its other rows. */
function unreadable({ entry, fault }: Row): Rejection | undefined {
  if (fault) return { code: 'VALIDATION_ERROR', ...fault };
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

/** The rows of a file in batches, in the order of the file, with what is wrong with them before they are sent. */
async function* batchesOf(rows: AsyncIterable<Row>, size: number): AsyncGenerator<CheckedRow[]> {
  const lineOfPlate = new Map<string, number>();
  let batch: CheckedRow[] = [];
  for await (const row of rows) {
    const { plateType, plateCode, plateNumber } = row.entry;
    const plate = JSON.stringify([plateType, plateCode, plateNumber]);
    const earlier = lineOfPlate.get(plate);
    const rejection =
      earlier === undefined
        ? unreadable(row)
        : { code: 'DUPLICATE_VEHICLE', message: `Line ${earlier} has the same plate` };
    if (!rejection) lineOfPlate.set(plate, row.line);
    batch.push({ row, rejection });
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** REPLACE is all or nothing, and so one call: all rows of the file, if they are not too many. */
async function onlyBatch(batches: AsyncGenerator<CheckedRow[]>): Promise<CheckedRow[]> {
  const { value: batch = [] } = await batches.next();
  const { done } = await batches.next();
  if (done) return batch;
  throw new Failure(
    `A file to replace a whitelist with has at most ${maxBatchSize} rows: a whitelist is replaced at once or not at all. Nothing was sent.`,
    exitCode.usage,
  );
}

async function importFile(path: string, options: ImportOptions, session: Session): Promise<number> {
  const { location, mode, dryRun, batchSize } = options;
  const { rejects: rejectsPath = `${path === '-' ? 'stdin' : path}.rejected.csv` } = options;
  const { client, output, streams } = session;
  const source = openSource(path, streams);
  const locationId = await locationIdOf(client, location);
  const totals = { created: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 };
  const rejects = createRejects(rejectsPath);

  /** Sends the good rows of a batch and returns what is wrong with them, by their place among them. */
  async function send(rows: readonly Row[]): Promise<Map<number, Rejection>> {
    const { importWhitelistEntries: result } = await client.run(
      ImportEntriesDocument,
      {
        locationId,
        entries: rows.map(({ entry }) => entry),
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
    return new Map(result.rows.flatMap(({ index, error }) => (error ? [[index, error]] : [])));
  }

  /** Imports a batch and writes down its rejected rows. */
  async function importBatch(batch: readonly CheckedRow[]): Promise<void> {
    const good = batch.filter(({ rejection }) => !rejection).map(({ row }) => row);
    const isStopped = mode === 'replace' && good.length < batch.length;
    if (isStopped) output.say('Nothing was replaced: first every row must be right.');
    const isSent = !isStopped && (good.length > 0 || mode === 'replace');
    const refused = isSent ? await send(good) : new Map<number, Rejection>();
    const refusedRows = new Map([...refused].map(([index, rejection]) => [good[index]!, rejection]));
    for (const { row, rejection = refusedRows.get(row) } of batch) {
      if (!rejection) continue;
      totals.rejected += 1;
      rejects.add(row, rejection);
    }
  }

  const progress = createProgress(source, streams);
  let rows = 0;
  try {
    const batches = batchesOf(
      readRows(source.stream, source.name),
      mode === 'replace' ? maxBatchSize : batchSize,
    );
    for await (const batch of mode === 'replace' ? [await onlyBatch(batches)] : batches) {
      await importBatch(batch).catch((error: Error) => {
        const [first, last] = [batch[0]?.row.line, batch.at(-1)?.row.line];
        throw new Failure(
          `Lines ${first} to ${last} failed, and nothing after them was sent; what stands before them is imported.\n${error.message}`,
        );
      });
      rows += batch.length;
      progress.show(source.stream.bytesRead, rows);
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
  withLocation(program.command('import'))
    .description(`import a whitelist from CSV with the columns ${entryColumns.join(', ')}`)
    .argument('<file>', 'the CSV file; - for the standard input')
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
      new Option('--batch-size <rows>', `rows of one call, at most ${maxBatchSize}`)
        .argParser((value) => Math.min(Math.max(wholeNumber(value), 1), maxBatchSize))
        .default(5000),
    )
    .action(async (file: string, options: ImportOptions) => end(await importFile(file, options, open())));
}
