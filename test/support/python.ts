import { spawnSync } from 'node:child_process';

/** Whether Python is installed. If Python is missing in CI, the test run fails. */
export const hasPython = spawnSync('python3', ['--version']).status === 0;

if (!hasPython && process.env.CI) throw new Error('No Python: install the package python3');
if (!hasPython) console.warn('NO PYTHON: the tests skip the Python programs of the guide. Install python3.');
