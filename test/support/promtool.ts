import { spawnSync } from 'node:child_process';
import { projectFolder } from './documentation.ts';

const run = (args: readonly string[], input = '') =>
  spawnSync('promtool', args, { input, encoding: 'utf8', cwd: projectFolder });

/**
 * Whether promtool is installed (Debian package `prometheus`). In CI the value is always true, so that a missing
 * promtool fails the tests.
 */
export const hasPromtool = run(['--version']).status === 0;

if (!hasPromtool && process.env.CI) throw new Error('No promtool: install the package prometheus');
if (!hasPromtool)
  console.warn('NO PROMTOOL: the tests do not check metrics and alert rules. Install prometheus.');

/** Returns the complaints of promtool about metrics or rules. The text is empty when promtool accepts the input. */
export function complaints(args: readonly string[], input?: string): string {
  const { status, stdout, stderr } = run(args, input);
  return status === 0 ? '' : stdout + stderr;
}
