import { type Command, Option } from 'commander';
import { instantFault } from '../schema/instant.ts';
import { choicesOf, examples, safeCsvOption, wholeNumber, withLocation } from './arguments.ts';
import {
  batchesOf,
  type FileRow,
  importInBatches,
  type RejectedRow,
  type Rejection,
} from './batch-import.ts';
import { type CsvOptions, csvText } from './csv.ts';
import { exitCode, Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import { ImportMode, ImportEntriesDocument } from './generated/operations.ts';
import { createRejects } from './rejected-rows.ts';
import { longTextRejection } from './request-size.ts';
import type { Session } from './session.ts';
import { openSource } from './source.ts';
import { entryColumns, readRows, rejectionColumns, type Row } from './whitelist-csv.ts';

/** The maximum number of rows in one import request. */
const maxBatchSize = 10_000;

interface ImportOptions extends CsvOptions {
  location: string;
  mode: Lowercase<ImportMode>;
  dryRun: boolean;
  afterLine?: number;
  rejects?: string;
  batchSize: number;
}

type CheckedRow = Row & FileRow;

/** Converts a rejected row to a record of the CSV file of rejected rows. */
function rejectedRecord({ row, rejection }: RejectedRow<Row>) {
  const { code, message, field, value } = rejection;
  const shown = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  return { ...row.fields, line: row.line, field, code, message, value: shown };
}

/**
 * Returns the reason to reject a row with a malformed field, or undefined when all fields are well-formed. The command
 * must not send a malformed row, because the gateway would then reject the whole GraphQL request, including the valid
 * rows.
 */
function unreadable({ entry, fault }: Row): Rejection | undefined {
  if (fault) return { code: 'VALIDATION_ERROR', ...fault };
  for (const field of ['validFrom', 'validUntil'] as const) {
    const value = entry[field];
    const message = value === null ? undefined : instantFault(value);
    if (message !== undefined) return { code: 'VALIDATION_ERROR', message, field, value };
  }
  return longTextRejection(entry);
}

/**
 * Finds the rows that repeat the plate of an earlier row of the file. The gateway finds repeated plates only within one
 * request, and a long file needs several requests. If an earlier row was rejected as invalid, the function accepts a
 * later row with the same plate. The gateway follows the same rule.
 */
function createRepetitionCheck() {
  const lineOfPlate = new Map<string, number>();
  const plateOf = ({ entry: { plateType, plateCode, plateNumber } }: Row) =>
    JSON.stringify([plateType, plateCode, plateNumber]);

  /** Remembers the plate of a valid row. The function `rejectionOf` can then reject a later row with the same plate. */
  function add(row: Row): void {
    lineOfPlate.set(plateOf(row), row.line);
  }

  /** Returns the reason to reject a row if an earlier valid row has the same plate. */
  function rejectionOf(row: Row): Rejection | undefined {
    const earlier = lineOfPlate.get(plateOf(row));
    if (earlier === undefined) return undefined;
    return { code: 'DUPLICATE_VEHICLE', message: `Line ${earlier} has the same plate` };
  }

  return {
    add,
    rejectionOf,
    /**
     * Returns the final result for a row that the command has sent: the reason why the row was rejected, or undefined
     * if the gateway accepted the row. If a row repeats the plate of an earlier row of the same request, the message of
     * the gateway contains the index of the earlier row. Instead of the gateway's message, the function returns a
     * message with the line number of the earlier row in the file.
     *
     * @param error the error that the gateway returned for the row
     */
    outcomeOf(row: Row, error: Rejection | undefined): Rejection | undefined {
      if (error && error.code !== 'DUPLICATE_VEHICLE') return error;
      const repetition = rejectionOf(row);
      if (!repetition) add(row);
      return repetition ?? error;
    },
  };
}

type RepetitionCheck = ReturnType<typeof createRepetitionCheck>;

/**
 * Yields the rows that come after a given line of a file. The function marks a row as rejected if the row is malformed,
 * or if the row repeats the plate of a row of an earlier request. The command does not send rejected rows to the
 * gateway. If `isInGateway` is false, the function treats the valid rows up to the given line as imported, and also
 * rejects each later row that repeats their plates. If `isInGateway` is true, the gateway knows which of these valid
 * rows are imported, and itself rejects such a later row.
 */
async function* checkedRows(
  rows: AsyncIterable<Row>,
  repetitions: RepetitionCheck,
  afterLine: number,
  isInGateway: boolean,
): AsyncGenerator<CheckedRow> {
  for await (const row of rows) {
    const rejection = unreadable(row) ?? repetitions.rejectionOf(row);
    if (row.line > afterLine) yield { ...row, rejection };
    else if (!rejection && !isInGateway) repetitions.add(row);
  }
}

/**
 * Yields all rows of a REPLACE import as one batch. A REPLACE import imports all rows or no rows, so all rows of the
 * file must fit into one request.
 *
 * @param name the name of the file, which error messages show
 * @throws {Failure} when the file has no rows, or too many rows for one request
 */
async function* onlyBatch(
  batches: AsyncGenerator<CheckedRow[], void>,
  name: string,
): AsyncGenerator<CheckedRow[]> {
  const { value: batch } = await batches.next();
  if (!batch) {
    throw new Failure(
      `${name} has no rows. A file for --mode replace must have at least one row. Nothing was sent.`,
      exitCode.usage,
    );
  }
  const { done } = await batches.next();
  if (done) return yield batch;
  throw new Failure(
    `${name} is too large for --mode replace, because all rows must fit into one request: at most ${maxBatchSize} rows, and fewer if the rows have many hours. Nothing was sent.`,
    exitCode.usage,
  );
}

/**
 * Returns the name of the new file to which a continued import writes its rejected rows. The file name contains a line
 * number, so that the continued import does not overwrite the file with the rejected rows of the first import.
 */
const rejectsAfter = (path: string, line: number) => path.replace(/(\.csv)?$/, `.after-${line}$1`);

async function importFile(path: string, options: ImportOptions, session: Session): Promise<number> {
  const { location, mode, dryRun, batchSize, afterLine } = options;
  if (mode === 'replace' && afterLine !== undefined)
    throw new Failure('--mode replace imports the whole file: omit --after-line', exitCode.usage);
  const { rejects: rejectsPath = `${path === '-' ? 'stdin' : path}.rejected.csv` } = options;
  const { client, output, streams } = session;
  const source = openSource(path, streams);
  const rejects = createRejects<CheckedRow>(rejectsPath, source, (rows, isFirst) =>
    csvText([...entryColumns, ...rejectionColumns], rows.map(rejectedRecord), {
      ...options,
      header: isFirst,
    }),
  );
  const locationId = await locationIdOf(client, location);
  const totals = { created: 0, updated: 0, unchanged: 0, deleted: 0 };
  const repetitions = createRepetitionCheck();

  /**
   * Sends the rows of a batch to the gateway. Returns a map from the index of each rejected row to the reason of the
   * rejection.
   */
  async function send(rows: readonly Row[], batch: readonly CheckedRow[], stopping: AbortSignal) {
    const sayNotReplaced = () =>
      output.say('The whitelist was not replaced, because rows are invalid. Correct them and import again.');
    const isIncomplete = mode === 'replace' && rows.length < batch.length;
    if (isIncomplete) sayNotReplaced();
    if (isIncomplete || rows.length === 0) return new Map<number, Rejection>();
    const { importWhitelistEntries: result } = await client.run(
      ImportEntriesDocument,
      {
        locationId,
        entries: rows.map(({ entry }) => entry),
        mode: mode.toUpperCase() as ImportMode,
        dryRun,
      },
      // After a failure of the gateway, the command repeats a request only if it is a dry run, an UPSERT import or a
      // REPLACE import. If the response to a CREATE import was lost, the gateway may already have imported the rows. If
      // the command then sent the import again, the gateway would reject the imported rows as duplicates.
      { repeatable: dryRun || mode !== 'create', stopping },
    );
    totals.created += result.created;
    totals.updated += result.updated;
    totals.unchanged += result.unchanged;
    totals.deleted += result.deleted;
    if (mode === 'replace' && result.rows.length > 0) sayNotReplaced();
    const errors = new Map(result.rows.map(({ index, error }) => [index, error ?? undefined]));
    return new Map(
      rows.flatMap((row, index) => {
        const rejection = repetitions.outcomeOf(row, errors.get(index));
        return rejection ? [[index, rejection]] : [];
      }),
    );
  }

  const isInGateway = mode === 'create' && !dryRun;
  const rows = checkedRows(readRows(source), repetitions, afterLine ?? 0, isInGateway);
  const batches = batchesOf(rows, mode === 'replace' ? maxBatchSize : batchSize, ({ entry }) => entry);
  const { rejected, unsaved } = await importInBatches(
    {
      source,
      batches: mode === 'replace' ? onlyBatch(batches, source.name) : batches,
      noun: 'rows',
      done: dryRun ? 'checked (a dry run: nothing was changed)' : 'imported',
      rejects,
      send,
      continuation: (after) => [
        // The command that continues a CREATE import must start after the last imported line. Otherwise, the command
        // would send imported rows again, and the gateway would reject these rows as duplicates.
        ...(mode === 'create' ? ['--after-line', String(after.line)] : []),
        ...(mode === 'create' && after.rejected > 0
          ? ['--rejects', rejectsAfter(rejectsPath, after.line)]
          : []),
      ],
    },
    session,
  );
  const shown = { ...totals, rejected };
  output.one(shown, {
    created: 'created',
    updated: 'updated',
    unchanged: 'unchanged',
    deleted: 'deleted',
    rejected: 'rejected',
  });
  if (dryRun) output.say('This was a dry run: nothing was changed.');
  if (unsaved) throw unsaved;
  if (rejected === 0) return exitCode.done;
  output.say(`The rejected rows, with the reasons, are in ${rejectsPath}`);
  return exitCode.rejected;
}

/** Adds the command `import`. */
export function addImportCommand(program: Command, open: () => Session, end: (code: number) => void): void {
  withLocation(program.command('import'))
    .description(`import a whitelist from CSV with the columns ${entryColumns.join(', ')}`)
    .addHelpText(
      'after',
      examples(
        'pms import residents.csv --location marina-gate --dry-run',
        'pms import residents.csv --location marina-gate --mode upsert',
        'pms import - --location marina-gate --mode replace < residents.csv',
      ),
    )
    .argument('<file>', 'the CSV file; - for the standard input')
    .addOption(
      new Option(
        '--mode <mode>',
        'create: add new plates only; upsert: add and update; replace: make the whitelist equal to the file',
      )
        .choices(choicesOf(ImportMode))
        .default('create'),
    )
    .option('--dry-run', 'show what would happen and change nothing', false)
    .addOption(
      new Option(
        '--after-line <line>',
        'skip the rows up to this line, which were imported before',
      ).argParser(wholeNumber),
    )
    .option('--rejects <file>', 'where to write rejected rows (default: beside the input file)')
    .option(...safeCsvOption)
    .addOption(
      new Option('--batch-size <rows>', `rows in one request, at most ${maxBatchSize}`)
        .argParser((value) => Math.min(Math.max(wholeNumber(value), 1), maxBatchSize))
        .default(5000),
    )
    .action(async (file: string, options: ImportOptions) => end(await importFile(file, options, open())));
}
