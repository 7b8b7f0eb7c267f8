#!/usr/bin/env node
import { exitCode } from './failure.ts';
import { runProgram } from './program.ts';

// The command ends without an error when a program such as `head` closes the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCode.done);
  throw error;
});

// Connects the command line with the arguments, streams, environment and exit code of the process.
process.exitCode = await runProgram(
  process.argv.slice(2),
  { in: process.stdin, out: process.stdout, err: process.stderr },
  process.env,
);
