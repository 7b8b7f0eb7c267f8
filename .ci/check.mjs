// `npm run check` runs the checks in parallel, with at most one check for each processor core. At the end, `npm run
// check` prints the names of the failed checks.
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { installPackages } from '../tools/install.mjs';

/**
 * The checks that `npm run check` runs. Each check is an npm script in package.json. The array starts with the slowest
 * checks, because `npm run check` starts the checks in the order of this array.
 */
const checks = [
  'format:check',
  'lint',
  'typecheck',
  'generate:check',
  'import-rules',
  'dead-code',
  'codegen:check',
  'migration:check',
  'openapi:check',
  'contract:check',
  'bench:figures:check',
  'openapi:lint',
];

/**
 * Runs an npm script and prints its result and its duration. Prints the output of the script only if the script fails.
 * Returns whether the npm script succeeded.
 */
const run = (script) =>
  new Promise((resolve) => {
    const startedAt = performance.now();
    execFile('npm', ['run', '--silent', script], { maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) => {
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      console.log(`${error ? 'FAILED' : 'ok'} ${script} (${seconds} s)`);
      if (error) console.log(stdout + stderr);
      resolve(!error);
    });
  });

// Two checks must not install the same npm packages at the same time. Therefore, `npm run check` installs the packages
// before the checks start.
installPackages('tools');
installPackages('bench');

const waiting = [...checks];
const failed = [];
async function runAll() {
  for (let script = waiting.shift(); script; script = waiting.shift()) {
    if (!(await run(script))) failed.push(script);
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, runAll));
if (failed.length > 0) {
  console.log(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
