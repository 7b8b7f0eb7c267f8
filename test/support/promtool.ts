import { spawnSync } from 'node:child_process';
import { projectFolder } from './documentation.ts';

const run = (args: readonly string[], input = '') =>
  spawnSync('promtool', args, { input, encoding: 'utf8', cwd: projectFolder });

/**
 * Whether promtool is installed (Debian package `prometheus`). If promtool is missing in CI, the test run fails.
 */
export const hasPromtool = run(['--version']).status === 0;

if (!hasPromtool && process.env.CI) throw new Error('No promtool: install the package prometheus');
if (!hasPromtool)
  console.warn('NO PROMTOOL: the tests do not check metrics and alert rules. Install prometheus.');

/**
 * Returns the errors that promtool reports for metrics or alert rules, or an empty text when promtool accepts its
 * input.
 */
export function complaints(args: readonly string[], input?: string): string {
  const { status, stdout, stderr } = run(args, input);
  return status === 0 ? '' : stdout + stderr;
}
