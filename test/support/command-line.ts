import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, expect } from 'vitest';
import { runProgram } from '../../cli/program.ts';

/** The output and the exit code of a command. */
export interface CommandResult {
  code: number;
  out: string;
  err: string;
}

/**
 * Creates a writable stream, and a function that returns the text that was written to the stream.
 * @param columns the width of the terminal that the stream imitates, or undefined for a stream that is no terminal
 */
function memory(columns?: number) {
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY: columns !== undefined, columns }), text: () => text };
}

/**
 * Creates a temporary folder for files, and functions that run commands of the command line in the test process. After
 * the last test of the test file, the function removes the folder.
 */
export function openCommandLine(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'parking-cli-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;

  /**
   * Runs a command with the given standard input. If `columns` is given, the command writes to a simulated terminal
   * with this number of columns.
   */
  async function run(
    { input, columns }: { input: string | AsyncIterable<string>; columns?: number },
    key: string | undefined,
    args: string[],
  ): Promise<CommandResult> {
    const [out, err] = [memory(columns), memory(columns)];
    const streams = {
      in: Readable.from(typeof input === 'string' ? [input] : input),
      out: out.stream,
      err: err.stream,
    };
    const code = await runProgram(args, streams, { PMS_URL: url, PMS_API_KEY: key });
    return { code, out: out.text(), err: err.text() };
  }

  /** Runs a command as a script does: without a terminal, and with the API key in an environment variable. */
  const pms = (key: string | undefined, ...args: string[]) => run({ input: '' }, key, args);

  return {
    folder,
    pms,
    pmsWithInput: (input: string | AsyncIterable<string>, key: string | undefined, ...args: string[]) =>
      run({ input }, key, args),
    /** Runs a `pms` command on a simulated terminal with the given number of columns. */
    pmsOnTerminal: (columns: number, key: string | undefined, ...args: string[]) =>
      run({ input: '', columns }, key, args),
    /** Runs a command with `--json`, expects that the command succeeds, and returns the parsed output. */
    async json(key: string, ...args: string[]) {
      const { code, out, err } = await pms(key, '--json', ...args);
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
      return JSON.parse(out);
    },
    /** Writes a text to a new file in the temporary folder of the tests, and returns the path of the file. */
    fileOf(text: string | Buffer): string {
      const path = join(folder, `${files++}.csv`);
      writeFileSync(path, text);
      return path;
    },
  };
}
