import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseStartError } from './start-error.ts';

/**
 * Locks the folder of the embedded database for this process. If two processes wrote to the same database folder, data
 * would be lost. The gateway locks an open file in the database folder (with `flock`, or with `F_OFD_SETLK` on Linux).
 * The kernel gives the file lock to only one process, even if containers share a volume. The kernel releases the file
 * lock when the process ends or crashes. The gateway never removes the lock file. If a process removed the lock file
 * while another process uses it, a third process could create and lock a new lock file. Each of two processes would
 * then hold the lock of its own lock file, so both processes could use the same database folder.
 *
 * @returns a function that unlocks the folder
 * @throws {DatabaseStartError} when another process holds the lock, or when this process cannot write to the folder or
 *   lock it
 */
export async function lockFolder(folder: string): Promise<() => void> {
  const path = join(folder, 'gateway.lock');
  const { tryLock } = await import('fs-native-extensions').catch((cause: unknown) => {
    throw new DatabaseStartError(
      `DATA_DIR ${folder} cannot be locked: fs-native-extensions has no build for this system ` +
        `(Linux with glibc, macOS and Windows have one). Set DATABASE_URL to use a PostgreSQL server.`,
      { cause },
    );
  });
  let file: number | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    file = openSync(path, 'a+', 0o600);
    if (tryLock(file)) {
      ftruncateSync(file);
      writeSync(file, `process ${process.pid} on ${hostname()}`);
      const held = file;
      return () => closeSync(held);
    }
  } catch (cause) {
    if (file !== undefined) closeSync(file);
    throw new DatabaseStartError(`DATA_DIR ${folder} cannot be used: ${(cause as Error).message}`, { cause });
  }
  closeSync(file);
  const owner = await readFile(path, 'utf8').catch(() => '');
  throw new DatabaseStartError(
    `DATA_DIR ${folder} is in use by ${owner || 'another process'}: one process at a time can own an embedded ` +
      `database. Stop it, choose another DATA_DIR, or set DATABASE_URL to share a PostgreSQL server.`,
  );
}
