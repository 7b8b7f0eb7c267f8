import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { removeDatabasesOfRun } from './scratch-database.ts';

/** Builds dist/ before the first test, because some tests start the gateway and the command line as processes. */
export function setup(): void {
  execFileSync(process.execPath, ['bundle.mjs', '--if-changed'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Removes the databases that the tests left behind. */
export const teardown = removeDatabasesOfRun;
