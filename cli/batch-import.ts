import { exitCode, Failure } from './failure.ts';
import type { Session } from './session.ts';
import { commandLine } from './shell-words.ts';
import { onFirstSignal } from './signals.ts';
import { createProgress, type Source } from './source.ts';

/** The reason why a row was not imported. */
export interface Rejection {
  code: string;
  message: string;
  field?: string | null;
  value?: unknown;
}

/** A row of the file that is imported. */
export interface FileRow {
  /** The number of the row's line in the file, starting at 1. */
  line: number;
  /** The reason why the command does not send the row. */
  rejection?: Rejection | undefined;
}

/** Writes the rejected rows of an import to a file. */
export interface RejectedRows<Row> {
  path: string;
  add(row: Row, rejection: Rejection): void;
  close(): Promise<void>;
}

/** An import of a file. It has the functions that send the rows to the gateway. */
interface BatchImport<Row> {
  source: Source;
  batches: AsyncGenerator<Row[]>;
  /** The word for rows in messages, such as `events`. */
  noun: string;
  /** The word for rows that were sent, in messages, such as `recorded`. */
  done: string;
  /** Writes rejected rows to a file. Without this function, a single rejected row makes its batch fail. */
  rejects?: RejectedRows<Row>;
  /**
   * Sends the rows of a batch, except rows that the command itself has already rejected.
   *
   * @param batch all rows of the batch, including the rejected rows
   * @param stopping ends the pause before a retry
   * @returns the rejections of the gateway by the index of the row
   */
  send(
    rows: readonly Row[],
    batch: readonly Row[],
    stopping: AbortSignal,
  ): Promise<ReadonlyMap<number, Rejection>>;
  /**
   * Returns the additional arguments with which the user can continue the import after a failure. The function is
   * missing when the user can repeat the same command.
   */
  continuation?(after: { line: number; rejected: number }): string[];
}

/** The number of rows of a file that were imported, and the number of rejected rows. */
interface Imported {
  rows: number;
  rejected: number;
}

/** Groups rows into batches and keeps their order. */
export async function* batchesOf<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  size: number,
): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

const linesOf = (batch: readonly FileRow[]) =>
  batch.length === 1 ? `line ${batch[0]?.line}` : `lines ${batch[0]?.line} to ${batch.at(-1)?.line}`;

/** The result when the user interrupts the import while it waits for a batch. */
const isStopped = Symbol('stopped');

/**
 * Sends the rows of a file in batches, writes rejected rows to a file, and shows the progress. With Ctrl-C, the import
 * stops after the current batch.
 *
 * @throws {Failure} when a batch fails, or after Ctrl-C. The message says how many rows are imported and how to
 *   continue
 */
export async function importInBatches<Row extends FileRow>(
  { source, batches, noun, done, rejects, send, continuation }: BatchImport<Row>,
  session: Session,
): Promise<Imported> {
  const { output, args } = session;
  const imported: Imported = { rows: 0, rejected: 0 };
  let lastLine: number | undefined;
  let sending: readonly Row[] | undefined;
  const progress = createProgress(source, session);

  /** Returns a text for the user: how many rows are imported, and which command imports the rest. */
  function stateInWords(): string {
    const { rows, rejected } = imported;
    const more = lastLine === undefined ? [] : (continuation?.({ line: lastLine, rejected }) ?? []);
    return [
      lastLine === undefined
        ? `No ${noun} are ${done}.`
        : `Up to line ${lastLine}, ${rows - rejected} ${noun} are ${done}${rejects ? `, ${rejected} rejected` : ''}.`,
      ...(rejected > 0 && rejects ? [`Rejected ${noun}, and why: ${rejects.path}`] : []),
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
    // Ctrl-C ends a pause immediately. If a request was already sent, the command first waits for its response.
    setImmediate(() => {
      if (!sending) return;
      progress.stop();
      output.say(
        `Waiting for the answer to ${linesOf(sending)}. A second Ctrl-C ends at once and leaves it unknown whether they are ${done}.\n${stateInWords()}`,
      );
    });
  });
  const interruption = () => new Failure(`Interrupted. ${stateInWords()}`, exitCode.interrupted);

  /** Returns the next batch. After Ctrl-C, the next batch is still read, because the file may already be at its end. */
  const nextBatch = () =>
    source.size === undefined ? Promise.race([stopped, batches.next()]) : batches.next();

  async function importBatch(batch: readonly Row[]): Promise<void> {
    const good = batch.filter(({ rejection }) => !rejection);
    const refused = await send(good, batch, stopping.signal);
    const refusedRows = new Map([...refused].map(([index, rejection]) => [good[index]!, rejection]));
    for (const row of batch) {
      const rejection = row.rejection ?? refusedRows.get(row);
      if (!rejection) continue;
      imported.rejected += 1;
      rejects?.add(row, rejection);
    }
  }

  try {
    for (;;) {
      const next = await nextBatch();
      if (next !== isStopped && next.done) return imported;
      if (next === isStopped || stopping.signal.aborted) throw interruption();
      sending = next.value;
      await importBatch(sending)
        .catch((error: Error) => {
          if (error.name === 'AbortError' && stopping.signal.aborted) throw interruption();
          throw new Failure(
            `${error.message}\nThis failed for ${linesOf(next.value)}. Nothing after ${next.value.length === 1 ? 'it' : 'them'} was sent. ${stateInWords()}`,
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
    if (stopping.signal.aborted) source.stream.destroy();
    await rejects?.close();
  }
}
