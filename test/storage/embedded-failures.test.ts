import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { cannotOpen } from '../../src/database/embedded-failures.ts';
import { projectFolder } from '../support/documentation.ts';
import { shortProcessOptions } from '../support/gateway-process.ts';
import { createEmbeddedDatabase, testServerUrl } from '../support/scratch-database.ts';

const megabyte = 1024 * 1024;

/**
 * Runs a script in a new process. The script opens an embedded database, and then removes the folder of its write-ahead
 * log. PostgreSQL therefore cannot create the next file of its write-ahead log. PostgreSQL then reports an error
 * with the severity PANIC. PostgreSQL reports the same error when the disk is full.
 */
async function runWithoutLogFolder(script: string) {
  const { dataDir, drop } = await createEmbeddedDatabase(false);
  onTestFinished(drop);
  const preparation = `
    import { rmSync } from 'node:fs';
    import { openEmbedded } from './src/database/embedded.ts';
    const { sql, prisma, close } = await openEmbedded(${JSON.stringify(dataDir)});
    const run = (text) => sql.query({ name: '', text }, []);
    await run('CREATE TABLE filler ()');
    await run('SELECT pg_switch_wal()');
    rmSync(${JSON.stringify(`${dataDir}/postgres/pg_wal`)}, { recursive: true });`;
  const options = [...shortProcessOptions, '--import', 'tsx', '--input-type=module', '-e'];
  const args = [...options, preparation + script];
  // If the process did not exit after the fatal error of PostgreSQL, PGlite would run forever, and only SIGKILL would
  // end the process.
  const limits = { timeout: 240_000, killSignal: 'SIGKILL' } as const;
  return promisify(execFile)(process.execPath, args, { cwd: projectFolder, ...limits }).then(
    () => expect.fail('The process ended without an error.'),
    ({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }) => ({
      code,
      stdout,
      stderr,
      dataDir,
    }),
  );
}

test.runIf(!testServerUrl).each([
  [
    'the COMMIT of a transaction',
    `await prisma.$transaction((transaction) => transaction.$executeRaw\`INSERT INTO filler DEFAULT VALUES\`)`,
  ],
  ['the end of the gateway', 'await close()'],
])(
  'the process exits with code 1 when the embedded database cannot write its write-ahead log during %s',
  async (_, work) => {
    const next = `
      .catch(() => undefined);
    console.log('next statement');
    await run('SELECT 1');`;
    const { code, stdout, stderr, dataDir } = await runWithoutLogFolder(work + next);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(`The embedded database in ${dataDir}/postgres failed, so the process exits`);
    expect(stderr).toContain('could not create file "pg_wal/xlogtemp');
    expect(stderr).toContain('Check the free disk space');
  },
);

test('when an embedded database cannot be opened and the disk is full, the message names the full disk as the cause', () => {
  const message = cannotOpen('/data', 'could not write to file', 15.5 * megabyte);
  expect(message).toMatch(/^DATA_DIR \/data cannot be opened, because the disk is full: 15 MB are free/);
  expect(message).toContain('(could not write to file)');
  expect(message).not.toMatch(/backup|remove/);
});

test.each([16 * megabyte, undefined])(
  'when an embedded database cannot be opened for an unknown cause, the message shows the error, tells what to check first, and does not advise removing the folder (free disk space in bytes: %s)',
  (freeBytes) => {
    const message = cannotOpen('/data', 'could not open file', freeBytes);
    expect(message).toMatch(
      /^DATA_DIR \/data cannot be opened: could not open file\. First check the free disk/,
    );
    expect(message).toContain('If the folder is damaged');
    expect(message).not.toMatch(/remove/);
  },
);
