import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// Servers of a test must end when the test run is interrupted by Ctrl-C or killed. Without a guard, a frozen server
// would stay forever.

/** Runs a shell script when this process has ended for any reason. */
function runAfterThisProcess(script: string, argument: string): ChildProcess {
  // `cat` reads from a pipe without a writer other than this process, so it ends with this process.
  const guard = spawn('sh', ['-c', `cat; ${script}`, 'sh', argument], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  (guard.stdin as Socket).unref();
  return guard;
}

/** Kills a process when this one ends. */
export function endWithThisProcess(child: ChildProcess): void {
  if (child.pid === undefined) return; // it could not be started
  const guard = runAfterThisProcess('kill -KILL "$1"', String(child.pid));
  // After its end, another process may get its number.
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** Kills every process that works in a folder, and removes the folder, when this process ends. */
export function removeWithThisProcess(folder: string): void {
  const script = `
    [ -d "$1" ] || exit 0
    for process in /proc/[0-9]*; do
      case "$(readlink "$process/cwd")" in "$1" | "$1"/*) kill -KILL "\${process#/proc/}" ;; esac
    done
    rm -rf "$1"`;
  runAfterThisProcess(script, folder);
}
