#!/usr/bin/env node
import { exitCode } from './failure.ts';
import { runProgram } from './program.ts';

// If a program such as `head` closes the output pipe, the command ends without an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCode.done);
  throw error;
});

// Runs the program `pms` with the arguments, streams and environment of this process, and sets the exit code of the
// process.
process.exitCode = await runProgram(
  process.argv.slice(2),
  { in: process.stdin, out: process.stdout, err: process.stderr },
  process.env,
);
