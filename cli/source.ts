import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { MultiBar } from 'cli-progress';
import { exitCode, Failure } from './failure.ts';
import type { Streams } from './output.ts';
import type { Session } from './session.ts';

/** An input file or the standard input, which a command reads row by row. */
export interface Source {
  name: string;
  stream: Readable & { bytesRead?: number };
  /** The size of the file in bytes; undefined for the standard input. */
  size?: number;
}

/**
 * Opens a file, or the standard input for `-`.
 *
 * @throws {Failure} when the file does not exist, or when it is a folder
 */
export function openSource(path: string, streams: Streams): Source {
  if (path === '-') return { name: 'the standard input', stream: streams.in };
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new Failure(`Cannot read ${path}: no such file`, exitCode.usage);
  if (found.isDirectory()) throw new Failure(`Cannot read ${path}: it is a folder`, exitCode.usage);
  return { name: path, stream: createReadStream(path), ...(found.isFile() && { size: found.size }) };
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
