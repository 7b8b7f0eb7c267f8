import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startMaintenance } from '../../src/database/embedded-maintenance.ts';
import { openEmbedded } from '../../src/database/embedded.ts';
import { createEmbeddedDatabase, testServerUrl } from '../support/scratch-database.ts';

// PostgreSQL writes each change to the write-ahead log first, in files of 16 MiB.

/**
 * The number of write-ahead log files after which PostgreSQL starts a checkpoint by default. These 33 files (16 MiB
 * each) fill about half of the default `max_wal_size` of PostgreSQL (1 GiB).
 */
const filesOfDefaultLimit = 33;

/**
 * The number of times that a test makes the gateway run the SQL statement `CHECKPOINT`. Without checkpoints, the writes
 * of the test would need more log files than `filesOfDefaultLimit`.
 */
const checkpoints = 8;

/** Creates an embedded database without tables, and returns its folder. */
async function newFolder(): Promise<string> {
  const { dataDir, drop } = await createEmbeddedDatabase(false);
  onTestFinished(drop);
  return dataDir;
}

/** Makes PostgreSQL write the given number of write-ahead log files. */
async function fillLog(run: (text: string) => Promise<unknown>, files: number): Promise<void> {
  await run('CREATE TABLE IF NOT EXISTS filler ()');
  for (let file = 0; file < files; file += 1) {
    await run('INSERT INTO filler DEFAULT VALUES');
    await run('SELECT pg_switch_wal()');
  }
}

test.runIf(!testServerUrl)(
  'an embedded database accepts writes even when its write-ahead log exceeds the default size limit of PostgreSQL',
  async () => {
    const database = await openEmbedded(await newFolder());
    onTestFinished(() => database.close());
    const run = (text: string) => database.sql.query({ name: '', text }, []);
    await fillLog(run, filesOfDefaultLimit + 5);
    expect(await run('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  },
);

test.runIf(!testServerUrl)(
  'every 30 s, the embedded database discards its stored query plans; after a checkpoint, it reuses the files of its write-ahead log',
  async () => {
    const folder = join(await newFolder(), 'postgres');
    const pglite = await PGlite.create({ dataDir: folder });
    onTestFinished(() => pglite.close());
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const exec = vi.fn<PGlite['exec']>((text) => pglite.exec(text));
    const checkpointsSoFar = () => exec.mock.calls.filter(([text]) => text === 'CHECKPOINT').length;
    const stop = startMaintenance({ query: pglite.query.bind(pglite), exec });
    vi.advanceTimersByTime(30_000);
    await stop();
    expect(exec.mock.calls).toEqual([['DISCARD PLANS']]);

    const stopAgain = startMaintenance({ query: pglite.query.bind(pglite), exec });
    for (let round = 0; round < checkpoints; round += 1) {
      await fillLog((text) => pglite.query(text), filesOfDefaultLimit / checkpoints + 1);
      vi.advanceTimersByTime(30_000);
      await expect.poll(checkpointsSoFar).toBe(round + 1);
    }
    await stopAgain();
    const files = (await readdir(join(folder, 'pg_wal'))).filter((name) => /^[0-9A-F]{24}$/.test(name));
    expect(files.length).toBeLessThan(filesOfDefaultLimit);
  },
);
