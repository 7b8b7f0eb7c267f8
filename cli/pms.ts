#!/usr/bin/env node
import { exitCode } from './failure.ts';
import { runProgram } from './program.ts';
import { stopCommand } from './signals.ts';

/** True if the command could not write its output, for example because the disk is full. */
let isOutputLost = false;

// If a program such as `head` closes the output pipe, the command ends without an error. If the command cannot write
// its output for a reason other than a closed pipe, such as a full disk, the command ends with an error. A command that
// must clean up, such as `listen`, cleans up before it ends.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE' && !isOutputLost) {
    isOutputLost = true;
    process.stderr.write(`Cannot write the output: ${message}\n`);
  }
  if (!stopCommand()) process.exit(isOutputLost ? exitCode.failed : exitCode.done);
});
// Even if the command cannot write to standard error, it must complete its work and clean up.
process.stderr.on('error', () => undefined);

// Runs the program `pms` with the arguments, streams and environment of this process, and sets the exit code of the
// process.
const code = await runProgram(
  process.argv.slice(2),
  { in: process.stdin, out: process.stdout, err: process.stderr },
  process.env,
);
process.exitCode = isOutputLost ? exitCode.failed : code;
