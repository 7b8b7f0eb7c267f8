import pino from 'pino';

/** How long a log line may wait to be written together with other lines, in milliseconds. */
const maxLineWaitMs = 100;
/** How many characters of log lines may wait. Writing more characters at once would save nothing. */
const maxWaitingCharacters = 16 * 1024;

/** The destination of the log's lines. */
export interface LogOutput extends pino.DestinationStream {
  /** Writes the waiting log lines, then calls `done`. */
  flush(done: (error?: Error) => void): void;
}

/**
 * Creates an output that writes several log lines at once. pino's own destination can do that, too, but scans its whole
 * buffer for each new line, which takes half of the time of a line. Waiting lines are written when the process ends.
 *
 * @param file the file to write to, instead of standard output
 */
export function createLogOutput(file?: string): LogOutput {
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;

  function writeWaiting(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === '') return;
    const lines = waiting;
    waiting = '';
    destination.write(lines);
  }
  // These listeners must be registered before the listeners of pino, which flush the buffer of the destination on the
  // same events.
  process.on('beforeExit', writeWaiting).on('exit', writeWaiting);
  // With a `minLength` of 0, the flush of the destination would not wait for a write in progress.
  const destination = pino.destination({ ...(file && { dest: file }), sync: false, minLength: 1 });

  return {
    write(line) {
      waiting += line;
      if (waiting.length >= maxWaitingCharacters) writeWaiting();
      else timer ??= setTimeout(writeWaiting, maxLineWaitMs).unref();
    },
    flush(done) {
      writeWaiting();
      destination.flush(done);
    },
  };
}
