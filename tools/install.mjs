// `node tools/install.mjs <folder>` installs the packages of a folder that has its own lock file, unless they are
// already installed.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const timeOf = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/**
 * Installs the packages of a project folder when they are missing or older than the lock file.
 *
 * @throws when npm fails
 */
export function installPackages(folder) {
  const cwd = join(root, folder);
  // The time of this file shows when the last installation ended, because npm writes this hidden lock file last.
  if (timeOf(join(cwd, 'node_modules/.package-lock.json')) >= timeOf(join(cwd, 'package-lock.json'))) return;
  console.log(`Installing the packages of ${folder}/`);
  const { status } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd,
      stdio: 'inherit',
    },
  );
  if (status !== 0) throw new Error(`npm ci in ${folder}/ failed`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) installPackages(process.argv[2]);
