// `npm run check` runs the checks in parallel, with at most one check for each processor core. The program prints the
// name of each check that failed.
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { installPackages } from '../tools/install.mjs';

/**
 * The names of the checks, which are scripts in package.json. The list begins with the slowest checks, so that the
 * slowest checks start first.
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
 * Runs a script and prints its result and its duration. Prints the output of the script only if the script fails.
 * Returns whether the script succeeded.
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

// This script installs the packages before the checks start. Otherwise, two checks that run at the same time could
// install the same packages.
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
