import pino from 'pino';

/** How long a line waits to be written with others, in milliseconds. */
const maxLineWaitMs = 100;
/** How many characters of lines wait at most: more in one write saves nothing. */
const maxWaitingCharacters = 16 * 1024;

/** Where lines of the log go. */
export interface LogOutput extends pino.DestinationStream {
  /** Writes what waits, then calls back. */
  flush(done: (error?: Error) => void): void;
}

/**
 * Creates an output that writes lines together. The destination of pino could do so too, but it goes through all that
 * waits for each line that is added, which takes half of the time of a line. What waits is written when the process ends.
 *
 * @param file where lines go instead of to standard output
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
  // Listens before the destination does, which on these events waits until all is written that it has.
  process.on('beforeExit', writeWaiting).on('exit', writeWaiting);
  // With a length of 0 its flush would not wait for a write that is under way.
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
