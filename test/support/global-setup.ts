import { execFileSync } from 'node:child_process';
import { existsSync, statfsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { removeDatabasesOfRun } from './scratch-database.ts';

/** Linux keeps the files of this folder in memory. */
const memoryFolder = '/dev/shm';

/** The tests keep their temporary folders in memory if at least this number of bytes of memory is free. */
const neededBytes = 2 * 1024 ** 3;

/**
 * Builds dist/ before a test run, because some tests start the gateway and the command line as processes. If enough
 * memory is free, `setup` also sets the environment variable TMPDIR, so that the tests create their temporary folders
 * in memory. An embedded database consists of a thousand files, and creating these files on a disk takes ten times as
 * long as in memory. If TMPDIR is already set, `setup` does not change TMPDIR.
 */
export function setup(): void {
  execFileSync(process.execPath, ['bundle.mjs', '--if-changed'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (existsSync(memoryFolder)) {
    const { bavail, bsize } = statfsSync(memoryFolder);
    if (bavail * bsize >= neededBytes) process.env.TMPDIR ??= memoryFolder;
  }
}

/** Removes the databases that the tests left behind. */
export const teardown = removeDatabasesOfRun;
