import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, expect } from 'vitest';
import { runProgram } from '../../cli/program.ts';

/** What a command printed, and how it ended. */
export interface CommandResult {
  code: number;
  out: string;
  err: string;
}

/** A stream that keeps what is written. */
function memory() {
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}

/** The command line for one test file, with a folder of its own that is removed after the last test. */
export function openCommandLine(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'parking-cli-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;

  /** Runs a command with a text as its standard input. */
  async function pmsWithInput(
    input: string,
    key: string | undefined,
    ...args: string[]
  ): Promise<CommandResult> {
    const [out, err] = [memory(), memory()];
    const streams = { in: Readable.from([input]), out: out.stream, err: err.stream };
    const code = await runProgram(args, streams, { PMS_URL: url, PMS_API_KEY: key });
    return { code, out: out.text(), err: err.text() };
  }

  /** Runs a command as a person does, with a key in the environment. */
  const pms = (key: string | undefined, ...args: string[]) => pmsWithInput('', key, ...args);

  return {
    folder,
    pms,
    pmsWithInput,
    /** Runs a command with `--json`, which must succeed, and returns what it printed. */
    async json(key: string, ...args: string[]) {
      const { code, out, err } = await pms(key, '--json', ...args);
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
      return JSON.parse(out);
    },
    /** Writes a file with a new name and returns its path. */
    fileOf(text: string | Buffer): string {
      const path = join(folder, `${files++}.csv`);
      writeFileSync(path, text);
      return path;
    },
  };
}
