import { closeSync, createReadStream, fstatSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { MultiBar } from 'cli-progress';
import { exitCode, Failure } from './failure.ts';
import type { Streams } from './output.ts';
import type { Session } from './session.ts';

/** An input file or the standard input, which a command reads row by row. */
export interface Source {
  name: string;
  stream: Readable & { bytesRead?: number };
  /** The file descriptor of the input; undefined if the input has no file descriptor. */
  fd: number | undefined;
  /** The size of the file in bytes; undefined for the standard input. */
  size?: number;
}

/** Creates the error for an input that cannot be read. */
const unreadable = (name: string, reason: string) =>
  new Failure(`Cannot read ${name}: ${reason}`, exitCode.usage);

/**
 * Opens a file for reading.
 *
 * @throws {Failure} when the file cannot be opened
 */
function openForReading(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw unreadable(path, code === 'ENOENT' ? 'no such file' : message);
  }
}

/**
 * Opens a file, or the standard input for `-`.
 *
 * @throws {Failure} when the file cannot be opened, or when it is a folder
 */
export function openSource(path: string, streams: Streams): Source {
  if (path === '-') return { name: 'the standard input', stream: streams.in, fd: streams.in.fd };
  const fd = openForReading(path);
  const found = fstatSync(fd);
  if (found.isDirectory()) {
    closeSync(fd);
    throw unreadable(path, 'it is a folder');
  }
  const stream = createReadStream(path, { fd });
  return { name: path, stream, fd, ...(found.isFile() && { size: found.size }) };
}

/**
 * Yields the text of an input in UTF-8, without a byte order mark. If the input contains bytes that are not UTF-8, the
 * function throws an error. If the function replaced invalid bytes by replacement characters (U+FFFD), an import would
 * write these characters into names and notes.
 *
 * @throws {Failure} when the input cannot be read, or is not in UTF-8
 */
export async function* textOf({ name, stream: input }: Source): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk: Uint8Array, stream: boolean) => {
    try {
      return decoder.decode(chunk, { stream });
    } catch {
      throw new Failure(
        `${name} is not in UTF-8. Save the file in UTF-8; a spreadsheet program calls this format "CSV UTF-8"`,
        exitCode.usage,
      );
    }
  };
  try {
    for await (const chunk of input) yield decode(Buffer.from(chunk), true);
  } catch (error) {
    throw error instanceof Failure ? error : unreadable(name, (error as Error).message);
  }
  yield decode(new Uint8Array(), false);
}

/** Shows how much of a file has been read. */
export interface Progress {
  show(rows: number): void;
  stop(): void;
}

/** Shows a progress bar if the output is a terminal. Messages for the user appear above the progress bar. */
export function createProgress({ size, stream }: Source, { output, streams: { err } }: Session): Progress {
  if (!err.isTTY || size === undefined) return { show: () => undefined, stop: () => undefined };
  // The class `MultiBar` is used for a single progress bar, because the class `SingleBar` would overwrite messages for
  // the user.
  const screen = new MultiBar({
    stream: err,
    format: '{bar} {percentage}% | {rows} rows | {eta_formatted} left',
    etaBuffer: 100,
    forceRedraw: true,
    linewrap: true,
  });
  const bar = screen.create(size, 0, { rows: 0 });
  output.sayThrough((text) => {
    screen.log(text);
    screen.update();
  });
  return {
    show: (rows) => bar.update(stream.bytesRead ?? 0, { rows }),
    stop() {
      if (!screen.isActive) return;
      output.sayThrough(undefined);
      screen.stop();
    },
  };
}
