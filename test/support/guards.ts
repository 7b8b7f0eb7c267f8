import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// The servers of a test must end even when Ctrl-C or a signal ends the test run. A guard is a process that kills the
// servers of a test when the test process has ended. A guard process can also end a server that a test has frozen with
// the signal SIGSTOP.

/** Runs a shell script as soon as the test process has ended, even if a signal killed the test process. */
function runAfterThisProcess(script: string, argument: string): ChildProcess {
  // The shell command `cat` reads a pipe that only the test process writes, so `cat` ends when the test process ends.
  const guard = spawn('sh', ['-c', `cat; ${script}`, 'sh', argument], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  (guard.stdin as Socket).unref();
  return guard;
}

/** Starts a guard process, which kills the given process when the test process ends. */
export function endWithThisProcess(child: ChildProcess): void {
  if (child.pid === undefined) return; // The given child process could not be started
  const guard = runAfterThisProcess('kill -KILL "$1"', String(child.pid));
  // When the child process has ended, its guard process must also end. Otherwise, the operating system could give the
  // process id of the ended child process to another process, and the guard process could later kill this process.
  child.once('exit', () => guard.kill('SIGKILL'));
}

/**
 * Starts a guard process. When the test process ends, the guard process kills every process whose working directory is
 * in the given folder, and then removes the folder.
 */
export function removeWithThisProcess(folder: string): void {
  const script = `
    [ -d "$1" ] || exit 0
    for process in /proc/[0-9]*; do
      case "$(readlink "$process/cwd")" in "$1" | "$1"/*) kill -KILL "\${process#/proc/}" ;; esac
    done
    rm -rf "$1"`;
  runAfterThisProcess(script, folder);
}
