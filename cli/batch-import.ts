import { exitCode, Failure } from './failure.ts';
import { createRequestSize } from './request-size.ts';
import type { Session } from './session.ts';
import { commandLine } from './shell-words.ts';
import { onFirstSignal } from './signals.ts';
import { createProgress, type Source } from './source.ts';

/** The reason why the gateway or the command rejected a row of an import. */
export interface Rejection {
  code: string;
  message: string;
  field?: string | null;
  value?: unknown;
}

/** A row of the file that the command imports. */
export interface FileRow {
  /** The line number of the row in the file; the first line has the number 1. */
  line: number;
  /** The reason why the command does not send the row to the gateway, for example because a field is malformed. */
  rejection?: Rejection | undefined;
}

/** A row that the gateway or the command rejected, with the reason. */
export interface RejectedRow<Row> {
  row: Row;
  rejection: Rejection;
}

/** Writes the rejected rows of an import to a file. */
export interface RejectedRows<Row> {
  path: string;
  /** Adds rejected rows to the file. When the promise resolves, the rejected rows are in the file. */
  add(rejected: readonly RejectedRow<Row>[]): Promise<void>;
  close(): Promise<void>;
}

/** An import: the batches of rows from a file, and the functions that send the batches to the gateway. */
interface BatchImport<Row> {
  source: Source;
  batches: AsyncGenerator<Row[]>;
  /** The plural noun for the imported rows in messages to the user, such as `events`. */
  noun: string;
  /** The verb in messages about accepted rows, such as `recorded`. */
  done: string;
  /**
   * Writes the rejected rows of an import to a file. For an import of quotas, `rejects` is undefined, because the
   * gateway refuses a whole batch of quotas when one quota is invalid.
   */
  rejects?: RejectedRows<Row>;
  /**
   * Sends the rows of a batch to the gateway, except the rows that the command itself has rejected.
   *
   * @param batch all rows of the batch, including the rows that the command itself has rejected
   * @param stopping an AbortSignal that ends the pause before a retry
   * @returns a map from the index of each rejected row in `rows` to the reason why the gateway rejected this row
   */
  send(
    rows: readonly Row[],
    batch: readonly Row[],
    stopping: AbortSignal,
  ): Promise<ReadonlyMap<number, Rejection>>;
  /**
   * Returns the arguments that the user must add to the command to continue a failed import. If the function
   * `continuation` is missing, the user can run the same command again to continue the import.
   */
  continuation?(after: { line: number; rejected: number }): string[];
}

/**
 * The progress of an import: `rows` is the number of rows that the import has processed, including rejected rows.
 * `rejected` is the number of rejected rows.
 */
interface Imported {
  rows: number;
  rejected: number;
  /** The error that occurred while writing the last batch's rejected rows. It is shown to the user after the import. */
  unsaved?: Failure;
}

/**
 * Groups rows into batches and keeps their order. The command can send each batch to the gateway in one request.
 *
 * @param maxRows the maximum number of rows in a batch
 * @param contentOf returns the value that the command sends to the gateway for a row
 */
export async function* batchesOf<Row extends FileRow>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  maxRows: number,
  contentOf: (row: Row) => unknown,
): AsyncGenerator<Row[], void> {
  let batch: Row[] = [];
  let size = createRequestSize();
  const endBatch = () => {
    const ended = batch;
    batch = [];
    size = createRequestSize();
    return ended;
  };
  for await (const row of rows) {
    if (!row.rejection && !size.add(contentOf(row)) && batch.length > 0) {
      yield endBatch();
      size.add(contentOf(row));
    }
    batch.push(row);
    if (batch.length === maxRows) yield endBatch();
  }
  if (batch.length > 0) yield batch;
}

const linesOf = (batch: readonly FileRow[]) =>
  batch.length === 1 ? `line ${batch[0]?.line}` : `lines ${batch[0]?.line} to ${batch.at(-1)?.line}`;

/** The maximum number of rejected rows that an error message lists. */
const maxShownRows = 20;

/** Creates the error for rejected rows that could not be written to a file. The message lists the rejected rows. */
function unsavedFailure(
  noun: string,
  path: string,
  rejected: readonly RejectedRow<FileRow>[],
  error: Error,
): Failure {
  const more = rejected.length - maxShownRows;
  return new Failure(
    [
      `Cannot write the rejected ${noun} to ${path}: ${error.message}`,
      ...rejected
        .slice(0, maxShownRows)
        .map(({ row, rejection }) => `  Line ${row.line}: ${rejection.code}: ${rejection.message}`),
      ...(more > 0 ? [`  and ${more} more`] : []),
    ].join('\n'),
  );
}

/** The value that `nextBatch` returns when the user interrupts the import. */
const isStopped = Symbol('stopped');

/**
 * Sends the rows of a file in batches, writes the rejected rows to another file, and shows the progress. When the user
 * presses Ctrl-C, the import stops after the current batch.
 *
 * @throws {Failure} when a batch fails, when the file has an error after the first batch, or when the user presses
 *   Ctrl-C. The function also throws a `Failure` when it cannot write the rejected rows of a batch, unless this batch
 *   is the last one. The error message says how many rows are imported, and with which command the user can import the
 *   remaining rows
 */
export async function importInBatches<Row extends FileRow>(
  { source, batches, noun, done, rejects, send, continuation }: BatchImport<Row>,
  session: Session,
): Promise<Imported> {
  const { output, args } = session;
  const imported: Imported = { rows: 0, rejected: 0 };
  let lastLine: number | undefined;
  let sending: readonly Row[] | undefined;
  /** Whether the command has sent at least one row to the gateway. */
  let hasSent = false;
  /** Whether the command has already written a row to the file of rejected rows. */
  let hasSaved = false;
  const progress = createProgress(source, session);
  const doubt = `pms cannot tell whether the ${noun} in this request are ${done}.`;

  /**
   * Returns a message for the user: how many rows are imported, and which command imports the remaining rows. If
   * `isUncertain` is true, the gateway may also have imported the rows of the last request.
   */
  function stateInWords(isUncertain = false): string {
    const { rows, rejected } = imported;
    const more = lastLine === undefined ? [] : (continuation?.({ line: lastLine, rejected }) ?? []);
    return [
      lastLine === undefined
        ? `No ${isUncertain ? 'earlier ' : ''}${noun} are ${done}.`
        : `Up to line ${lastLine}, ${rows - rejected} ${noun} are ${done}${rejects ? `, ${rejected} rejected` : ''}.`,
      ...(hasSaved && rejects ? [`Rejected ${noun}, and why: ${rejects.path}`] : []),
      ...(imported.unsaved ? [imported.unsaved.message] : []),
      `To continue${source.size === undefined ? ', with the same input' : ''}:`,
      `  ${commandLine(['pms', ...args, ...more])}`,
    ].join('\n');
  }

  const stopping = new AbortController();
  const stopped = new Promise<typeof isStopped>((resolve) =>
    stopping.signal.addEventListener('abort', () => resolve(isStopped)),
  );
  const forget = onFirstSignal(() => {
    stopping.abort();
    // When the command pauses before it sends a request again, Ctrl-C stops the command immediately. If the command
    // waits for the response to a request, Ctrl-C stops the command only after this response.
    setImmediate(() => {
      if (!sending) return;
      progress.stop();
      output.say(
        `Waiting for the answer to ${linesOf(sending)}. A second Ctrl-C stops the command immediately, and ${doubt}\n${stateInWords(true)}`,
      );
    });
  });
  const interruption = () => new Failure(`Interrupted. ${stateInWords()}`, exitCode.interrupted);

  /**
   * Returns the next batch of rows. If the command reads the rows from standard input, Ctrl-C ends the wait for more
   * rows, and the function returns `isStopped`. If the input is a file, Ctrl-C does not interrupt the reading of the
   * next batch, because this takes only a short time. If the file has no further rows, the import is complete. The
   * command then does not report an interruption.
   */
  const nextBatch = () =>
    source.size === undefined ? Promise.race([stopped, batches.next()]) : batches.next();

  /**
   * Returns the error to show to the user when the command could not read the next batch. If an import fails after its
   * first batch, the error message also says how many rows are already imported.
   */
  function readingFailure(error: Error): Error {
    if (lastLine === undefined) return error;
    return new Failure(
      `${error.message}\nNothing after line ${lastLine} was sent. Correct the input before you continue. ${stateInWords()}`,
      hasSent ? exitCode.failed : exitCode.usage,
    );
  }

  /**
   * Appends the rejected rows of a batch to the file in which the command collects all rejected rows. If the function
   * cannot write the rejected rows to their file, it stores the error instead of throwing it. The command later shows
   * this write error together with the number of imported rows.
   */
  async function save(rejected: readonly RejectedRow<Row>[]): Promise<void> {
    imported.rejected += rejected.length;
    if (!rejects || rejected.length === 0) return;
    try {
      await rejects.add(rejected);
      hasSaved = true;
    } catch (error) {
      imported.unsaved = unsavedFailure(noun, rejects.path, rejected, error as Error);
    }
  }

  async function importBatch(batch: readonly Row[]): Promise<void> {
    const good = batch.filter(({ rejection }) => !rejection);
    hasSent ||= good.length > 0;
    const refused = await send(good, batch, stopping.signal);
    const refusedRows = new Map([...refused].map(([index, rejection]) => [good[index]!, rejection]));
    await save(
      batch.flatMap((row) => {
        const rejection = row.rejection ?? refusedRows.get(row);
        return rejection ? [{ row, rejection }] : [];
      }),
    );
  }

  try {
    for (;;) {
      const next = await nextBatch().catch((error: Error) => {
        throw readingFailure(error);
      });
      if (next !== isStopped && next.done) return imported;
      if (next === isStopped || stopping.signal.aborted) throw interruption();
      if (imported.unsaved) throw new Failure(`Nothing after line ${lastLine} was sent. ${stateInWords()}`);
      sending = next.value;
      await importBatch(sending)
        .catch((error: Error) => {
          if (error.name === 'AbortError' && stopping.signal.aborted) throw interruption();
          // After a temporary failure, the gateway may have imported the rows, although `pms` got no response.
          const isUncertain = error instanceof Failure && error.temporary;
          throw new Failure(
            `${error.message}\nThis failed for ${linesOf(next.value)}.${isUncertain ? ` ${doubt}` : ''} Nothing after ${next.value.length === 1 ? 'it' : 'them'} was sent. ${stateInWords(isUncertain)}`,
          );
        })
        .finally(() => (sending = undefined));
      imported.rows += next.value.length;
      lastLine = next.value.at(-1)?.line;
      progress.show(imported.rows);
    }
  } finally {
    forget();
    progress.stop();
    source.stream.destroy(); // without this call, an open standard input would keep the process running after a failure
    await rejects?.close().catch((error: Error) => {
      imported.unsaved ??= unsavedFailure(noun, rejects.path, [], error);
    });
  }
}
