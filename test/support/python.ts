import { spawnSync } from 'node:child_process';

/** Whether programs in Python can be run here; in CI they always can, or the suite fails. */
export const hasPython = spawnSync('python3', ['--version']).status === 0;

if (!hasPython && process.env.CI) throw new Error('No Python: install the package python3');
if (!hasPython) console.warn('NO PYTHON: the Python program of the guide is not run. Install python3.');
