import { type BigIntStats, fstatSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { FileRow, RejectedRows, RejectedRow } from './batch-import.ts';
import { exitCode, Failure } from './failure.ts';
import { openPrivateFile } from './replace-file.ts';
import type { Source } from './source.ts';

/**
 * Calls the function `find`, which reads the properties of a file, and returns these properties. Returns undefined if
 * the file does not exist, cannot be read, or is not a regular file.
 */
function regularFile(find: () => BigIntStats | undefined): BigIntStats | undefined {
  try {
    const found = find();
    return found?.isFile() ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a path leads to the input file of a command, either directly or through a link. */
function isInput(path: string, { fd }: Source): boolean {
  const input = fd === undefined ? undefined : regularFile(() => fstatSync(fd, { bigint: true }));
  const other = regularFile(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return input !== undefined && input.dev === other?.dev && input.ino === other.ino;
}

/**
 * Writes rejected rows to a file, and creates the file when the first row is rejected.
 *
 * @param textOf a function that converts rejected rows to a text for the file; `isFirst` is true if the file is still
 *   empty
 * @throws {Failure} when the file is the input file of the import
 */
export function createRejects<Row extends FileRow>(
  path: string,
  source: Source,
  textOf: (rejected: readonly RejectedRow<Row>[], isFirst: boolean) => string,
): RejectedRows<Row> {
  if (isInput(path, source)) throw new Failure('--rejects must not be the input file', exitCode.usage);
  let file: FileHandle | undefined;
  return {
    path,
    async add(rejected) {
      const isFirst = file === undefined;
      file ??= await openPrivateFile(path);
      await file.appendFile(textOf(rejected, isFirst));
    },
    async close() {
      await file?.close();
    },
  };
}
