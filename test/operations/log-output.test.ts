import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLogOutput, maxUnwrittenCharacters } from '../../src/observability/log-output.ts';

const folder = await mkdtemp(join(tmpdir(), 'parking-log-'));
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
const newFile = () => join(folder, `${files++}.log`);
const textOf = (file: string) => readFile(file, 'utf8').catch(() => '');

const module = new URL('../../src/observability/log-output.ts', import.meta.url).href;
/** Returns the arguments with which Node runs a script that uses `createLogOutput`. */
const scriptArguments = (script: string): string[] => {
  const program = `import(${JSON.stringify(module)}).then(({ createLogOutput }) => { ${script} });`;
  return ['--import', 'tsx', '-e', program];
};

/** The number of log lines (1 KiB each) whose total size is twice the memory limit for unwritten log lines. */
const tooManyLines = (2 * maxUnwrittenCharacters) / 1024;

describe('writing of log lines', () => {
  test('the log collects several lines for a short time, and then writes them together in order', async () => {
    const file = newFile();
    const output = createLogOutput({ file });
    for (const line of ['one\n', 'two\n', 'three\n']) output.write(line);
    // The test reads the log file synchronously. No other code of the process runs before the test has read the file,
    // so the log cannot write its lines earlier, even on a slow machine.
    expect(readFileSync(file, 'utf8')).toBe('');
    await expect.poll(() => textOf(file)).toBe('one\ntwo\nthree\n');
  });

  test('when the log receives many lines, it writes them to the file without the usual delay', async () => {
    const file = newFile();
    const output = createLogOutput({ file });
    const lines = Array.from({ length: 2_000 }, (_, n) => `line ${n} of many\n`);
    for (const line of lines) output.write(line);
    const written = () => textOf(file).then(({ length }) => length);
    // As soon as the buffer of the log contains 16 KiB, the log writes the content of the buffer to the file. If the
    // buffer of the log contains less than 16 KiB, the log writes the buffer to the file after a delay.
    await expect.poll(written).toBeGreaterThan(lines.join('').length - 17_000);
    await expect.poll(() => textOf(file)).toBe(lines.join(''));
  });

  test('the log calls the callback of the method `flush` after all lines are written', async () => {
    const file = newFile();
    const output = createLogOutput({ file });
    const lines = 'a line that is longer than others\n'.repeat(10_000);
    output.write(lines);
    output.write('the last one\n');
    await new Promise<void>((resolve) => output.flush(() => resolve()));
    expect(await textOf(file)).toBe(`${lines}the last one\n`);
  });

  test.each([
    ['process.exit(0)', 'calls process.exit'],
    ['', 'has no further work'],
  ])('all log lines are written before a process ends: the process %s', async (end) => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      scriptArguments(`
        const output = createLogOutput();
        for (let n = 0; n < 1000; n++) output.write('line ' + n + '\\n');
        ${end}`),
    );
    expect(stdout).toBe(Array.from({ length: 1000 }, (_, n) => `line ${n}\n`).join(''));
  });

  // Every write to the device /dev/full fails with the error of a full disk.
  test('the log loses lines while the disk is full, and prints one message to standard error', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => print.mockRestore());
    const output = createLogOutput({ file: '/dev/full' });
    for (let n = 0; n < 3; n++) {
      output.write('a line that is lost\n');
      await new Promise<void>((resolve) => output.flush(resolve));
    }
    expect(print.mock.calls).toEqual([[expect.stringMatching(/^Log lines are lost.*ENOSPC/)]]);
  });

  test('a process can exit when the disk with the log file is full', async () => {
    const script = scriptArguments(
      `createLogOutput({ file: '/dev/full' }).write('lost\\n'); process.exit(3);`,
    );
    await expect(promisify(execFile)(process.execPath, script)).rejects.toMatchObject({ code: 3 });
  });

  test('the log drops lines while the process that reads the log is slow, and later reports the number of dropped lines', async () => {
    const child = spawn(
      process.execPath,
      scriptArguments(`
        const output = createLogOutput({ onLinesLost: (count) => output.write('lost ' + count + '\\n') });
        const line = 'x'.repeat(1023) + '\\n';
        for (let n = 0; n < ${tooManyLines}; n++) output.write(line);
        process.stdin.once('data', () => output.flush(() => process.exit(0)));
        process.stderr.write('ready');`),
    );
    await once(child.stderr, 'data');
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stdin.write('continue');
    await once(child, 'close');
    const lost = Number(/^lost (\d+)$/m.exec(text)![1]);
    expect(lost).toBeGreaterThan(0);
    expect(text.match(/^x+$/gm)).toHaveLength(tooManyLines - lost);
  });
});
