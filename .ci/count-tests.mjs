// Reads the JSON reports of several vitest runs, and prints how many tests passed, failed and were skipped in total.
// The output of this script is the last line that `.ci/run` prints.
import { readFileSync } from 'node:fs';

const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const sum = (name) => reports.reduce((total, report) => total + report[name], 0);
const [passed, failed, skipped] = ['numPassedTests', 'numFailedTests', 'numPendingTests'].map(sum);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
if (passed === 0 || failed > 0) process.exitCode = 1;
