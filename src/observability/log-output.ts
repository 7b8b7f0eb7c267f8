import pino from 'pino';

/** How long a log line may wait until it is written together with later lines, in milliseconds. */
const maxLineWaitMs = 100;
/**
 * How many characters of waiting log lines are written together at most. Writing more characters together would not be
 * faster.
 */
const maxWaitingCharacters = 16 * 1024;

/** The stream to which the log writes its lines. */
export interface LogOutput extends pino.DestinationStream {
  /** Writes the log lines that are waiting, and then calls `done`. */
  flush(done: (error?: Error) => void): void;
}

/**
 * Creates an output that writes several log lines together. pino's own output can also collect lines, but scans all
 * collected lines for each new line, which takes half of the time of a line. Collected lines are also written when the
 * process ends.
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
  // pino writes its own buffer on the same events, so the listeners of this output must be registered first.
  process.on('beforeExit', writeWaiting).on('exit', writeWaiting);
  // With a `minLength` of 0, `flush` would not wait for a write in progress.
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
