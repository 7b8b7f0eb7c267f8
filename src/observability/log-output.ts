import pino from 'pino';

/** How long a log line may wait until it is written together with later lines, in milliseconds. */
const maxLineWaitMs = 100;
/**
 * The maximum number of characters of log lines that are written together. Writing more characters together would not
 * make logging faster.
 */
const maxWaitingCharacters = 16 * 1024;

/** The stream to which the log writes its lines. */
export interface LogOutput extends pino.DestinationStream {
  /** Writes the log lines that are waiting, and then calls `done`. */
  flush(done: (error?: Error) => void): void;
}

/**
 * Creates an output that writes several log lines together. pino itself can also collect lines, but pino scans all
 * collected lines whenever a line is added. The scan takes half of the time that pino needs to write a log line. Before
 * the process ends, the output writes the lines that it has collected.
 *
 * @param file the file that receives the log lines; by default, the lines go to standard output
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
  // When the process ends, pino writes its buffer on the events `beforeExit` and `exit`. The log registers
  // `writeWaiting` before pino registers its listeners, so that pino gets all waiting lines before pino writes its
  // buffer.
  process.on('beforeExit', writeWaiting).on('exit', writeWaiting);
  // With `minLength: 0`, the method `flush` of pino would not wait for a write that is in progress.
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
