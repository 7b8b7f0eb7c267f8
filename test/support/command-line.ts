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
 * A stream that keeps the text that is written to the stream.
 * @param columns makes the stream a terminal of this width
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

/** Creates the command line for one test file, with a folder that is removed after the last test. */
export function openCommandLine(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'parking-cli-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;

  /**
   * Runs a command with a text as its standard input, either on a terminal of the given width or without a terminal.
   */
  async function run(
    { input, columns }: { input: string; columns?: number },
    key: string | undefined,
    args: string[],
  ): Promise<CommandResult> {
    const [out, err] = [memory(columns), memory(columns)];
    const streams = { in: Readable.from([input]), out: out.stream, err: err.stream };
    const code = await runProgram(args, streams, { PMS_URL: url, PMS_API_KEY: key });
    return { code, out: out.text(), err: err.text() };
  }

  /** Runs a command as a script does, with a key in the environment. */
  const pms = (key: string | undefined, ...args: string[]) => run({ input: '' }, key, args);

  return {
    folder,
    pms,
    pmsWithInput: (input: string, key: string | undefined, ...args: string[]) => run({ input }, key, args),
    /** Runs a command as a person does, on a terminal with this number of columns. */
    pmsOnTerminal: (columns: number, key: string | undefined, ...args: string[]) =>
      run({ input: '', columns }, key, args),
    /** Runs a command with `--json` and returns the parsed output. The command must succeed. */
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
