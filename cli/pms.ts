#!/usr/bin/env node
import { exitCode } from './failure.ts';
import { runProgram } from './program.ts';

// A reader that has seen enough, such as `head`, ends the command.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCode.done);
  throw error;
});

// The process: its arguments, streams and environment, and its exit code.
process.exitCode = await runProgram(
  process.argv.slice(2),
  { in: process.stdin, out: process.stdout, err: process.stderr },
  process.env,
);
