import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { createLogOutput } from '../../src/observability/log-output.ts';

const folder = await mkdtemp(join(tmpdir(), 'parking-log-'));
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
const newFile = () => join(folder, `${files++}.log`);
const textOf = (file: string) => readFile(file, 'utf8').catch(() => '');

describe('writing of log lines', () => {
  test('the log collects several lines for a short time, and then writes them together in order', async () => {
    const file = newFile();
    const output = createLogOutput(file);
    for (const line of ['one\n', 'two\n', 'three\n']) output.write(line);
    expect(await textOf(file)).toBe('');
    await expect.poll(() => textOf(file)).toBe('one\ntwo\nthree\n');
  });

  test('the log writes many lines without a delay', async () => {
    const file = newFile();
    const output = createLogOutput(file);
    const lines = Array.from({ length: 2_000 }, (_, n) => `line ${n} of many\n`);
    for (const line of lines) output.write(line);
    const written = () => textOf(file).then(({ length }) => length);
    // Each time the buffer contains 16 KiB, the log writes the buffer at once. The log writes the remaining lines after
    // a delay.
    await expect.poll(written).toBeGreaterThan(lines.join('').length - 17_000);
    await expect.poll(() => textOf(file)).toBe(lines.join(''));
  });

  test('the log calls the callback of flush after it has written all lines', async () => {
    const file = newFile();
    const output = createLogOutput(file);
    const lines = 'a line that is longer than others\n'.repeat(10_000);
    output.write(lines);
    output.write('the last one\n');
    await new Promise<void>((resolve) => output.flush(() => resolve()));
    expect(await textOf(file)).toBe(`${lines}the last one\n`);
  });

  test.each([
    ['process.exit(0)', 'ends itself'],
    ['', 'runs out of work'],
  ])('all log lines are written before a process ends: the process %s', async (end) => {
    const module = new URL('../../src/observability/log-output.ts', import.meta.url).href;
    const script = `import(${JSON.stringify(module)}).then(({ createLogOutput }) => {
      const output = createLogOutput();
      for (let n = 0; n < 1000; n++) output.write('line ' + n + '\\n');
      ${end}
    });`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', '-e', script]);
    expect(stdout).toBe(Array.from({ length: 1000 }, (_, n) => `line ${n}\n`).join(''));
  });
});
