import { spawnSync } from 'node:child_process';

/** Whether Python is installed. In CI the value is always true, so that a missing Python fails the tests. */
export const hasPython = spawnSync('python3', ['--version']).status === 0;

if (!hasPython && process.env.CI) throw new Error('No Python: install the package python3');
if (!hasPython) console.warn('NO PYTHON: the tests skip the Python programs of the guide. Install python3.');
