import { spawnSync } from 'node:child_process';
import { projectFolder } from './documentation.ts';

const run = (args: readonly string[], input = '') =>
  spawnSync('promtool', args, { input, encoding: 'utf8', cwd: projectFolder });

/** Whether the checker of Prometheus is here (package `prometheus` of Debian); in CI it is, or the suite fails. */
export const hasPromtool = run(['--version']).status === 0;

if (!hasPromtool && process.env.CI) throw new Error('No promtool: install the package prometheus');
if (!hasPromtool) console.warn('NO PROMTOOL: metrics and alert rules are not checked by Prometheus.');

/** What Prometheus has against metrics or rules; empty when all is well. */
export function complaints(args: readonly string[], input?: string): string {
  const { status, stdout, stderr } = run(args, input);
  return status === 0 ? '' : stdout + stderr;
}
