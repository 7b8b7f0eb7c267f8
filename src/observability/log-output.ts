import { openSync, write, writeSync } from 'node:fs';
import type pino from 'pino';

/**
 * The maximum time that a log line waits before the log output writes it together with later lines, in milliseconds.
 */
const maxLineWaitMs = 100;
/**
 * As soon as the waiting log lines have this number of characters in total, the log output writes all of them. A larger
 * value of `maxWaitingCharacters` would not make logging faster.
 */
const maxWaitingCharacters = 16 * 1024;
/**
 * The maximum number of characters in the queue of unwritten log lines. The queue grows while the program that reads
 * the log reads more slowly than the gateway writes. When the queue is full, the log output drops new log lines, so
 * that the queue cannot fill the memory of the process. The queue has space for the log lines of about 10,000 requests.
 */
export const maxUnwrittenCharacters = 4 * 1024 * 1024;
/** How long the log output waits before it tries to write to a full pipe again, in milliseconds. */
const fullPipeRetryMs = 50;
/** The maximum time for which an ending process tries to write the last log lines to a full pipe, in milliseconds. */
const maxWaitAtExitMs = 400;

/** The stream to which the logger writes the log lines. */
export interface LogOutput extends pino.DestinationStream {
  /** Writes the log lines that are waiting, and then calls `done`. Log lines that cannot be written are lost. */
  flush(done: () => void): void;
}

/** The options of a log output: the file of the log, and a function that is called after log lines were lost. */
interface LogOutputOptions {
  /** The file that receives the log lines; by default, the lines go to standard output. */
  file?: string;
  /** The log output calls this function with the number of lost log lines, as soon as the log can be written again. */
  onLinesLost?: (count: number) => void;
}

/**
 * Creates a log output that writes several log lines together. Before the process ends, the log output writes the lines
 * that it has collected. When a write fails, for example because the disk is full, the log output drops the lines of
 * this write, prints one message to standard error, and continues. The gateway must continue to serve requests even if
 * it cannot write its log.
 */
export function createLogOutput({ file, onLinesLost }: LogOutputOptions = {}): LogOutput {
  const descriptor = file ? openSync(file, 'a') : 1;
  /** The log lines that wait for the next write. */
  let waiting = '';
  /** The bytes that the operating system has not accepted yet from the current write call. */
  let unwritten: Buffer | undefined;
  /** Whether the operating system is still writing the bytes in `unwritten`. */
  let isWriting = false;
  let timer: NodeJS.Timeout | undefined;
  const afterFlush: (() => void)[] = [];
  let lostLines = 0;
  /** Whether the last write to the log failed. */
  let failed = false;

  function loseUnwritten(error: Error): void {
    lostLines += linesIn(unwritten!.toString());
    unwritten = undefined;
    if (!failed) console.error(`Log lines are lost, because the log cannot be written: ${error.message}`);
    failed = true;
  }

  function takeWaiting(): Buffer | undefined {
    clearTimeout(timer);
    timer = undefined;
    const lines = waiting;
    waiting = '';
    return lines === '' ? undefined : Buffer.from(lines);
  }

  function writeWaiting(): void {
    if (unwritten) return;
    unwritten = takeWaiting();
    if (unwritten) writeUnwritten();
    else for (const done of afterFlush.splice(0)) done();
  }

  function writeUnwritten(): void {
    isWriting = true;
    write(descriptor, unwritten!, onWritten);
  }

  function onWritten(error: NodeJS.ErrnoException | null, bytes: number): void {
    isWriting = false;
    if (error && isFullPipe(error)) {
      setTimeout(writeUnwritten, fullPipeRetryMs).unref();
      return;
    }
    if (error) loseUnwritten(error);
    else {
      unwritten = remainder(unwritten!, bytes);
      if (unwritten) {
        writeUnwritten();
        return;
      }
      failed = false;
    }
    if (afterFlush.length > 0 || waiting.length >= maxWaitingCharacters) writeWaiting();
    else if (waiting !== '') waitForLines();
    // The queue `waiting` has space for new lines again, so the log output reports how many lines were lost.
    if (!failed) reportLostLines();
  }

  function reportLostLines(): void {
    if (lostLines === 0) return;
    const count = lostLines;
    lostLines = 0;
    onLinesLost?.(count);
  }

  function waitForLines(): void {
    timer ??= setTimeout(writeWaiting, maxLineWaitMs).unref();
  }

  /** Writes all remaining log lines synchronously, because an ending process cannot wait for a callback. */
  function writeAtExit(): void {
    if (isWriting) unwritten = undefined; // the operating system finishes the write in progress
    const end = performance.now() + maxWaitAtExitMs;
    for (unwritten ??= takeWaiting(); unwritten; unwritten ??= takeWaiting()) {
      try {
        const bytes = writeSync(descriptor, unwritten);
        unwritten = remainder(unwritten, bytes);
      } catch (error) {
        if (!isFullPipe(error as NodeJS.ErrnoException) || performance.now() > end) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeRetryMs);
      }
    }
  }
  process.on('exit', writeAtExit);

  return {
    write(line) {
      if (waiting.length + line.length > maxUnwrittenCharacters) {
        lostLines += linesIn(line);
        return;
      }
      waiting += line;
      if (waiting.length >= maxWaitingCharacters) writeWaiting();
      else if (!unwritten) waitForLines();
    },
    flush(done) {
      afterFlush.push(done);
      writeWaiting();
    },
  };
}

/** Returns the bytes that a write call did not write, or `undefined` when it wrote all bytes. */
function remainder(bytes: Buffer, written: number): Buffer | undefined {
  return bytes.length > written ? bytes.subarray(written) : undefined;
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}

/**
 * Whether a write failed because the pipe is full. A pipe is full when its reader has not read the earlier log lines
 * yet.
 */
function isFullPipe({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EAGAIN';
}
