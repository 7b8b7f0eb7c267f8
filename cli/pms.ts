#!/usr/bin/env node
import { runProgram } from './program.ts';
import { stopCommand } from './signals.ts';

// If a program such as `head` closes the output pipe, the command ends without an error. A command that must clean up,
// such as `listen`, cleans up before it ends.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  if (!stopCommand()) process.exit();
});
// If the standard error output is closed, the command must still complete its work and clean up.
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// Runs the program `pms` with the arguments, streams and environment of this process, and sets the exit code of the
// process.
process.exitCode = await runProgram(
  process.argv.slice(2),
  { in: process.stdin, out: process.stdout, err: process.stderr },
  process.env,
);
