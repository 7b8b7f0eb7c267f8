import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// The servers of a test must end even when Ctrl-C or a signal ends the test run. Without a guard process, a frozen
// server would run for ever.

/** Runs a shell script as soon as this process has ended for any reason. */
function runAfterThisProcess(script: string, argument: string): ChildProcess {
  // `cat` reads from a pipe that only this process can write to, so `cat` ends with this process.
  const guard = spawn('sh', ['-c', `cat; ${script}`, 'sh', argument], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  (guard.stdin as Socket).unref();
  return guard;
}

/** Kills the given process when this process ends. */
export function endWithThisProcess(child: ChildProcess): void {
  if (child.pid === undefined) return; // The process could not be started
  const guard = runAfterThisProcess('kill -KILL "$1"', String(child.pid));
  // After the process has ended, another process may get the same process id.
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** When this process ends, kills every process that works in a folder, and removes the folder. */
export function removeWithThisProcess(folder: string): void {
  const script = `
    [ -d "$1" ] || exit 0
    for process in /proc/[0-9]*; do
      case "$(readlink "$process/cwd")" in "$1" | "$1"/*) kill -KILL "\${process#/proc/}" ;; esac
    done
    rm -rf "$1"`;
  runAfterThisProcess(script, folder);
}
