import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// What a test starts must not stay when the test run is broken off, by Ctrl-C or by a signal that leaves no time to clean
// up: a server that is frozen would stay for good.

/** Runs a script of the shell when this process has ended, however that came. */
function runAfterThisProcess(script: string, argument: string): ChildProcess {
  // `cat` reads from a pipe that nobody writes to: it ends with this process.
  const guard = spawn('sh', ['-c', `cat; ${script}`, 'sh', argument], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  (guard.stdin as Socket).unref();
  return guard;
}

/** Ends a process with this one. */
export function endWithThisProcess(child: ChildProcess): void {
  if (child.pid === undefined) return; // it could not be started
  const guard = runAfterThisProcess('kill -KILL "$1"', String(child.pid));
  // Another process may get its number.
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** Ends every process that works in a folder, and removes the folder, with this process. */
export function removeWithThisProcess(folder: string): void {
  const script = `
    [ -d "$1" ] || exit 0
    for process in /proc/[0-9]*; do
      case "$(readlink "$process/cwd")" in "$1" | "$1"/*) kill -KILL "\${process#/proc/}" ;; esac
    done
    rm -rf "$1"`;
  runAfterThisProcess(script, folder);
}
