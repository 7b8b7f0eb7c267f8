import { existsSync } from 'node:fs';
import { access, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { openScratchDatabase, runMigrate } from '../support/database.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { newSlug } from '../support/harness.ts';
import { createScratchDatabase, testServerUrl } from '../support/scratch-database.ts';

const log = pino({ level: 'silent' });
const operatorKey = 'operator-key-of-the-tests-0123456789';

/**
 * Starts a gateway whose embedded database is in the given folder. If the gateway is still running at the end of the
 * test, the test kills its process.
 */
function startOwner(dataDir: string) {
  const owner = startGatewayProcess({ DATA_DIR: dataDir, OPERATOR_API_KEY: operatorKey });
  onTestFinished(() => void owner.child.kill('SIGKILL'));
  return owner;
}

/**
 * Registers companies one after the other, until the test kills the gateway process. The returned array contains the
 * slug of each company whose registration the gateway has confirmed.
 */
function registerCompanies(url: string): string[] {
  const acknowledged: string[] = [];
  void (async () => {
    for (;;) {
      const slug = newSlug();
      const { status } = await fetch(`${url}/api/register/company`, {
        method: 'POST',
        headers: { 'X-API-Key': operatorKey, 'Content-Type': 'application/json' },
        body: JSON.stringify({ slug, name: 'Kept', address: 'Dubai' }),
      });
      if (status === 201) acknowledged.push(slug);
    }
  })().catch(() => undefined);
  return acknowledged;
}

/** Returns the path of a folder that does not exist yet. */
async function newFolder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'parking-test-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  return join(parent, 'data');
}

describe.runIf(!testServerUrl)('the folder of an embedded database', () => {
  it('while a process has an embedded database open, neither this process nor another process can open the folder of the database', async () => {
    const { scratch } = await openScratchDatabase();
    const { code, output } = await runMigrate(scratch);
    expect(code).toBe(1);
    expect(output).toContain(`DATA_DIR ${scratch.dataDir} is in use by process ${process.pid}`);
    await expect(openDatabase({ ...scratch, log })).rejects.toThrow(/DATA_DIR .* is in use/);
  });

  it('when four processes start together with the same embedded database, exactly one of them opens the database folder', async () => {
    const dataDir = await newFolder();
    const starts = Array.from({ length: 4 }, () => startOwner(dataDir));
    const refused = () => starts.filter(({ child }) => child.exitCode === 1);
    await expect.poll(() => refused().length).toBe(3);
    const owner = starts.find(({ child }) => child.exitCode === null)!;
    for (const { output } of refused()) {
      expect(output()).toContain(`is in use by process ${owner.child.pid}`);
    }
    const acknowledged = registerCompanies(await owner.listening());
    await expect.poll(() => acknowledged.length).toBeGreaterThan(20);
    await owner.end('SIGKILL');

    const database = await openDatabase({ dataDir, log });
    onTestFinished(() => database.close());
    const kept = await database.prisma.company.findMany({ select: { slug: true } });
    expect(kept.map(({ slug }) => slug)).toEqual(expect.arrayContaining(acknowledged));
  });

  it.each([
    ['before its files are complete', 'postgres.unfinished/PG_VERSION'],
    ['when its files are complete', 'postgres/PG_VERSION'],
  ])(
    'the folder of an embedded database can be opened after the gateway was killed during its first start (%s)',
    async (_, file) => {
      const dataDir = await newFolder();
      const first = startOwner(dataDir);
      await vi.waitUntil(() => existsSync(join(dataDir, file)), { timeout: 60_000, interval: 5 });
      await first.end('SIGKILL');

      expect(await runMigrate({ dataDir })).toMatchObject({
        code: 0,
        output: expect.stringContaining('migrations applied'),
      });
      await expect(access(join(dataDir, 'postgres.unfinished'))).rejects.toThrow(/ENOENT/);
    },
  );

  it('the folder of an embedded database is readable only by its owner', async () => {
    const dataDir = await newFolder();
    const database = await openDatabase({ dataDir, log });
    onTestFinished(() => database.close());
    const names = ['', ...(await readdir(dataDir, { recursive: true }))];
    const modes = await Promise.all(names.map(async (name) => (await stat(join(dataDir, name))).mode));
    expect(names.filter((_, index) => (modes[index]! & 0o077) !== 0)).toEqual([]);
  });

  it('the command dist/migrate.js fails when it cannot open the folder of the embedded database, and the error message names the folder and the reason', async () => {
    const scratch = await createScratchDatabase();
    onTestFinished(() => scratch.drop());
    await rm(join(scratch.dataDir, 'postgres', 'global'), { recursive: true });
    const { code, output } = await runMigrate(scratch);
    expect(code).toBe(1);
    const reason = 'could not open file "global/pg_control": No such file or directory';
    expect(output).toContain(`DATA_DIR ${scratch.dataDir} cannot be opened: ${reason}`);
    expect(output).not.toMatch(/remove/);
    expect(output).not.toContain('    at ');
  });

  it('when an embedded database in a folder is opened again, it still contains its rows', async () => {
    const scratch = await createScratchDatabase();
    onTestFinished(() => scratch.drop());
    const first = await openDatabase({ ...scratch, log });
    await first.prisma.company.create({ data: { id: 'kept', name: 'K', slug: 'kept', address: 'A' } });
    await first.close();
    const second = await openDatabase({ ...scratch, log });
    onTestFinished(() => second.close());
    expect(await second.prisma.company.count()).toBe(1);
  });
});
