import { runProgram } from './program.ts';

// The process: its arguments, streams and environment, and its exit code.
process.exitCode = await runProgram(
  process.argv.slice(2),
  { out: process.stdout, err: process.stderr },
  process.env,
);
