// `node tools/install.mjs <folder>` installs the npm packages of a folder with its own package-lock.json. If the
// installed packages are up to date, the script changes nothing.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const timeOf = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/**
 * Installs the npm packages of a folder. If the folder's package-lock.json has not changed since the last installation,
 * the function does nothing.
 *
 * @throws when `npm ci` fails
 */
export function installPackages(folder) {
  const cwd = join(root, folder);
  // The modification time of node_modules/.package-lock.json is the time of the last installation, because npm writes
  // this file last.
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
