import { createReadStream, statSync } from 'node:fs';
import { SingleBar } from 'cli-progress';
import { exitCode, Failure } from './failure.ts';
import type { Streams } from './output.ts';

/** A file that a command reads row by row. */
export interface Source {
  name: string;
  stream: NodeJS.ReadableStream & { bytesRead?: number };
  /** In bytes; unknown for the standard input. */
  size?: number;
}

/**
 * Opens a file, or the standard input for `-`.
 *
 * @throws {Failure} when there is no such file, or it is empty
 */
export function openSource(path: string, streams: Streams): Source {
  if (path === '-') return { name: 'the standard input', stream: streams.in };
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new Failure(`Cannot read ${path}: no such file`, exitCode.usage);
  if (found.isDirectory()) throw new Failure(`Cannot read ${path}: it is a folder`, exitCode.usage);
  return { name: path, stream: createReadStream(path), ...(found.isFile() && { size: found.size }) };
}

/** Shows how far a file is read, on a terminal. */
export function createProgress({ size }: Source, { err }: Streams) {
  if (!err.isTTY || size === undefined) return { show: () => undefined, stop: () => undefined };
  const bar = new SingleBar({
    stream: err,
    format: '{bar} {percentage}% | {rows} rows | {eta_formatted} left',
    etaBuffer: 100,
  });
  bar.start(size, 0, { rows: 0 });
  return {
    show: (bytes: number | undefined, rows: number) => bar.update(bytes ?? 0, { rows }),
    stop: () => bar.stop(),
  };
}
