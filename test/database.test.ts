import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isUniqueViolation } from '../src/db-errors.ts';
import { openDatabase } from '../src/db.ts';
import type { Database } from '../src/db.ts';
import {
  applyMigrations,
  loadSchemaEngine,
  NO_FILTERS,
  readMigrations,
  toMigrationList,
} from '../src/migrations.ts';
import { createScratchDatabase, testServerUrl } from './scratch-database.ts';
import type { ScratchDatabase } from './scratch-database.ts';

const onServer = testServerUrl !== undefined;
const log = pino({ level: 'silent' });
const root = fileURLToPath(new URL('..', import.meta.url));

/** Opens a scratch database for one test and removes it after. */
async function openScratch(options?: {
  migrated: boolean;
}): Promise<Database & { scratch: ScratchDatabase }> {
  const scratch = await createScratchDatabase(options);
  const database = await openDatabase({ ...scratch, log });
  onTestFinished(async () => {
    await database.close();
    await scratch.drop();
  });
  return { ...database, scratch };
}

/** Writes migrations, name → script, in Prisma's layout. */
async function writeMigrations(scripts: Record<string, string>): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'parking-migrations-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, script] of Object.entries(scripts)) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'migration.sql'), script);
  }
  return pathToFileURL(`${folder}/`);
}

/** What `npm run migrate` does, in a process of its own. */
async function runMigrate(scratch: ScratchDatabase): Promise<{ code: number; output: string }> {
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: scratch.databaseUrl,
    DATA_DIR: scratch.dataDir,
    APP_ENV: 'development',
    LOG_LEVEL: 'info',
  };
  const run = promisify(execFile)(process.execPath, ['--import', 'tsx', 'src/migrate.ts'], {
    cwd: root,
    env,
  });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      output: error.stdout + error.stderr,
    }),
  );
}

const HISTORY = {
  name: 'test_history',
  text: 'SELECT migration_name AS name FROM _prisma_migrations ORDER BY 1',
};

describe(`database on ${onServer ? 'PostgreSQL' : 'the embedded database'}`, { timeout: 60_000 }, () => {
  describe('migrations', () => {
    it('apply once, though four processes start at once', async () => {
      const scratch = await createScratchDatabase({ migrated: false });
      onTestFinished(() => scratch.drop());
      const runs = await Promise.all([1, 2, 3, 4].map(() => runMigrate(scratch)));

      expect(runs.filter(({ output }) => output.includes('migrations applied'))).toHaveLength(1);
      if (onServer) expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);

      const database = await openDatabase({ ...scratch, log });
      onTestFinished(() => database.close());
      const names = (await readMigrations()).map(({ name }) => ({ name }));
      expect(await database.sql.query(HISTORY, [])).toEqual(names);
      expect(await applyMigrations(database, log)).toEqual([]);
    });

    it('leave a history that Prisma finds in order', async () => {
      const database = await openScratch();
      const migrations = await readMigrations();
      const diagnosis = await database.withMigrationLock(async (adapters) =>
        (await loadSchemaEngine(adapters)).diagnoseMigrationHistory({
          migrationsList: toMigrationList(migrations),
          optInToShadowDatabase: false,
          filters: NO_FILTERS,
        }),
      );
      expect(diagnosis).toMatchObject({
        history: null,
        failedMigrationNames: [],
        editedMigrationNames: [],
        hasMigrationsTable: true,
      });
    });

    it('take a script as the server does: semicolons in comments, strings and functions', async () => {
      const database = await openScratch({ migrated: false });
      const folder = await writeMigrations({
        '1_function': `-- one; two
          CREATE FUNCTION answer() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'a;b'; END $$;`,
      });
      expect(await applyMigrations(database, log, folder)).toEqual(['1_function']);
      const rows = await database.sql.query({ name: 'answer', text: 'SELECT answer()' }, []);
      expect(rows).toEqual([{ answer: 'a;b' }]);
    });

    it('stop at one that fails, undo it, and stop the next start too', async () => {
      const database = await openScratch({ migrated: false });
      const folder = await writeMigrations({
        '1_good': 'CREATE TABLE good (id int);',
        '2_bad': 'CREATE TABLE half (id int); SELECT * FROM missing;',
        '3_never': 'CREATE TABLE never (id int);',
      });
      await expect(applyMigrations(database, log, folder)).rejects.toThrow(/failed: [^]*missing[^]*2_bad/);
      await expect(applyMigrations(database, log, folder)).rejects.toThrow(/migration 2_bad failed earlier/);
      const tables = await database.sql.query(
        {
          name: 'tables',
          text: `SELECT to_regclass('good') IS NULL AS good, to_regclass('half') IS NULL AS half`,
        },
        [],
      );
      expect(tables).toEqual([{ good: false, half: true }]);
    });

    it('stop the start when an applied one was edited', async () => {
      const database = await openScratch({ migrated: false });
      const folder = await writeMigrations({ '1_first': 'CREATE TABLE first (id int);' });
      await applyMigrations(database, log, folder);
      await writeFile(new URL('1_first/migration.sql', folder), 'CREATE TABLE first (id text);');
      await expect(applyMigrations(database, log, folder)).rejects.toThrow(/1_first was edited after/);
    });

    it('leave a database of a newer version alone', async () => {
      const database = await openScratch({ migrated: false });
      const newer = await writeMigrations({ '1_first': 'SELECT 1;', '2_second': 'SELECT 2;' });
      const older = await writeMigrations({ '1_first': 'SELECT 1;' });
      await applyMigrations(database, log, newer);
      expect(await applyMigrations(database, log, older)).toEqual([]);
    });
  });

  describe('statements', () => {
    let scratch: ScratchDatabase;
    let database: Database;

    beforeAll(async () => {
      scratch = await createScratchDatabase();
      database = await openDatabase({ ...scratch, log });
    }, 60_000);

    afterAll(async () => {
      await database.close();
      await scratch.drop();
    });

    it('return the same JavaScript types on both databases', async () => {
      const text = `SELECT '2026-02-03T04:05:06.789+04'::timestamptz AS timestamptz, 7::int2 AS int2, 7::int4 AS int4,
        7::int8 AS int8, 7.25::float8 AS float8, 7.25::numeric AS numeric, true AS bool, 'x' AS text, NULL AS nothing,
        ARRAY['a', NULL, 'b,"c'] AS texts, ARRAY[1, NULL] AS ints, '{}'::text[] AS "none",
        ARRAY['2026-01-01T00:00:00Z'::timestamptz, NULL] AS times, '{"a": [1, null]}'::jsonb AS jsonb,
        'ADMIN'::"Permission" AS "enum", ARRAY['ADMIN'::"Permission"]::text[] AS enums`;
      expect(await database.sql.query({ name: 'shapes', text }, [])).toEqual([
        {
          timestamptz: new Date('2026-02-03T00:05:06.789Z'),
          int2: 7,
          int4: 7,
          int8: '7',
          float8: 7.25,
          numeric: '7.25',
          bool: true,
          text: 'x',
          nothing: null,
          texts: ['a', null, 'b,"c'],
          ints: [1, null],
          none: [],
          times: [new Date('2026-01-01T00:00:00Z'), null],
          jsonb: { a: [1, null] },
          enum: 'ADMIN',
          enums: ['ADMIN'],
        },
      ]);
    });

    it('take arrays with nulls inside, and jsonb as text', async () => {
      const text = `SELECT *, $5::jsonb AS json FROM unnest($1::text[], $2::timestamptz[], $3::int[], $4::float8[])
        AS row (text, time, int, float)`;
      const time = new Date('2026-01-02T03:04:05.678Z');
      const texts = ['NULL', '{"\\,}', null];
      const rows = await database.sql.query({ name: 'arrays', text }, [
        texts,
        [time, null, null],
        [1, null, 3],
        [0.5, null, 2],
        JSON.stringify([1, 'a']),
      ]);
      expect(rows).toEqual([
        { text: 'NULL', time, int: 1, float: 0.5, json: [1, 'a'] },
        { text: '{"\\,}', time: null, int: null, float: null, json: [1, 'a'] },
        { text: null, time: null, int: 3, float: 2, json: [1, 'a'] },
      ]);
    });

    it('see the times that Prisma writes, whatever zone the server is set to', async () => {
      const [{ name } = { name: '' }] = await database.sql.query<{ name: string }>(
        { name: 'database_name', text: 'SELECT current_database() AS name' },
        [],
      );
      await database.prisma.$executeRawUnsafe(`ALTER DATABASE "${name}" SET timezone TO 'Asia/Dubai'`);
      const again = onServer ? await openDatabase({ ...scratch, log }) : database;
      if (onServer) onTestFinished(() => again.close());

      const createdAt = new Date('2026-03-04T05:06:07.089Z');
      await again.prisma.company.create({
        data: { id: 'zone', name: 'Z', slug: 'zone', address: 'A', createdAt },
      });
      const text = `SELECT "createdAt", "createdAt" = $1::timestamptz AS same FROM "Company" WHERE id = 'zone'`;
      expect(await again.sql.query({ name: 'zone', text }, [createdAt])).toEqual([{ createdAt, same: true }]);
      expect(await again.prisma.company.findUnique({ where: { id: 'zone' } })).toMatchObject({ createdAt });
    });

    it('name the unique constraint that a write hits, from Prisma and from SQL', async () => {
      const { prisma, sql } = database;
      const company = (id: string) => ({ id, name: 'C', slug: 'unique', address: 'A' });
      const location = (id: string) => ({ id, companyId: 'c1', name: 'L', slug: 'unique' });
      const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7' };
      const entry = (id: string) => ({ id, locationId: 'l1', referenceId: 'r', ...plate });
      const insert = (table: string, row: Record<string, string>) =>
        sql.query(
          {
            name: `insert_${table}`,
            text: `INSERT INTO "${table}" (${Object.keys(row).map((key) => `"${key}"`)})
              VALUES (${Object.keys(row).map((_, index) => `$${index + 1}`)})`,
          },
          Object.values(row),
        );
      await prisma.company.create({ data: company('c1') });
      await prisma.location.create({ data: location('l1') });
      await prisma.whitelistEntry.create({ data: entry('w1') });

      const attempts: [string, () => Promise<unknown>][] = [
        ['company_slug_unique', () => prisma.company.create({ data: company('c2') })],
        ['company_slug_unique', () => prisma.$transaction([prisma.company.create({ data: company('c2') })])],
        [
          'company_slug_unique',
          () => prisma.$transaction((tx) => tx.company.create({ data: company('c2') })),
        ],
        [
          'company_slug_unique',
          () => prisma.$executeRaw`UPDATE "Company" SET slug = 'unique' WHERE id = 'zone'`,
        ],
        ['company_slug_unique', () => insert('Company', company('c2'))],
        ['location_company_slug_unique', () => prisma.location.create({ data: location('l2') })],
        ['location_company_slug_unique', () => insert('Location', location('l2'))],
        ['whitelist_entry_plate_unique', () => prisma.whitelistEntry.create({ data: entry('w2') })],
        ['whitelist_entry_plate_unique', () => prisma.whitelistEntry.createMany({ data: [entry('w2')] })],
        ['whitelist_entry_plate_unique', () => insert('WhitelistEntry', entry('w2'))],
        ['Company_pkey', () => prisma.company.create({ data: { ...company('c1'), slug: 'other' } })],
      ];
      const names = [...new Set(attempts.map(([name]) => name))];
      for (const [expected, write] of attempts) {
        const error: unknown = await write().catch((reason: unknown) => reason);
        expect(isUniqueViolation(error), expected).toBe(true);
        expect(names.filter((name) => isUniqueViolation(error, name))).toEqual([expected]);
      }

      const foreignKey: unknown = await insert('Location', { ...location('l3'), companyId: 'none' }).catch(
        (e) => e,
      );
      expect(isUniqueViolation(foreignKey)).toBe(false);
      expect(isUniqueViolation(new Error('company_slug_unique'))).toBe(false);
      expect(isUniqueViolation(undefined)).toBe(false);
    });
  });

  describe.runIf(onServer)('a deadlock', () => {
    it('lets the statement that PostgreSQL gave up try again', async () => {
      const { sql, scratch } = await openScratch();
      await sql.query({ name: '', text: 'CREATE TABLE held (id int PRIMARY KEY, value int)' }, []);
      await sql.query({ name: '', text: 'INSERT INTO held VALUES (1, 0), (2, 0)' }, []);
      const other = new pg.Client(scratch.databaseUrl!);
      await other.connect();
      onTestFinished(() => other.end());
      await other.query('BEGIN; SET LOCAL deadlock_timeout TO 60000; UPDATE held SET value = 1 WHERE id = 2');
      // Takes row 1, then waits for row 2; the other one then waits for row 1.
      const both = sql.query(
        {
          name: '',
          text: `WITH one AS MATERIALIZED (SELECT id FROM held WHERE id = 1 FOR UPDATE)
            UPDATE held SET value = value + 10 FROM one WHERE held.id = one.id + 1 RETURNING value`,
        },
        [],
      );
      await vi.waitUntil(async () => {
        const { rows } = await other.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows.length === 1;
      });
      await other.query('UPDATE held SET value = 1 WHERE id = 1');
      await other.query('COMMIT');
      expect(await both).toEqual([{ value: 11 }]);
    });
  });

  describe.runIf(onServer)('a server that fails', () => {
    it('costs the queries that it interrupts, and is used again at once', async () => {
      const database = await openScratch();
      const other = new pg.Client({ connectionString: testServerUrl });
      await other.connect();
      onTestFinished(() => other.end());
      const terminate = () =>
        other.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
          new URL(database.scratch.databaseUrl!).pathname.slice(1),
        ]);

      const sleeping = database.sql.query({ name: 'sleep', text: 'SELECT pg_sleep(20)' }, []);
      const transaction = database.prisma.$transaction(async (tx) => {
        await tx.company.count();
        await terminate();
        await tx.company.count();
      });
      const outcomes = await Promise.allSettled([sleeping, transaction]);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);

      await terminate();
      await expect.poll(() => database.ping().then(() => 'answers', String)).toBe('answers');
      expect(await database.prisma.company.count()).toBe(0);
      expect(await database.prisma.$transaction((tx) => tx.company.count())).toBe(0);
    });

    it('stops the start within seconds when it does not answer', async () => {
      const mute = createServer().listen(0, '127.0.0.1');
      await once(mute, 'listening');
      onTestFinished(() => void mute.close());
      const databaseUrl = `postgresql://postgres@127.0.0.1:${(mute.address() as AddressInfo).port}/postgres`;
      const started = performance.now();
      await expect(openDatabase({ databaseUrl, dataDir: 'memory://', log })).rejects.toThrow(/DATABASE_URL/);
      expect(performance.now() - started).toBeLessThan(4_000);
    });
  });

  describe.runIf(!onServer)('the folder of an embedded database', () => {
    it('belongs to one process, and to one owner in it', async () => {
      const { scratch } = await openScratch();
      const { code, output } = await runMigrate(scratch);
      expect(code).toBe(1);
      expect(output).toContain(`DATA_DIR ${scratch.dataDir} is in use by process ${process.pid}`);
      await expect(openDatabase({ ...scratch, log })).rejects.toThrow(/DATA_DIR .* is in use/);
    });

    it('is taken over from a process that is gone, or whose number another one has now', async () => {
      const scratch = await createScratchDatabase();
      onTestFinished(() => scratch.drop());
      const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
      await once(gone, 'exit');
      const lock = join(scratch.dataDir, 'gateway.lock');
      for (const owner of [`${gone.pid}`, `${gone.pid} 1`, `${process.pid} 1`, '']) {
        await writeFile(lock, owner);
        const database = await openDatabase({ ...scratch, log });
        await database.ping();
        await database.close();
        await expect(readFile(lock)).rejects.toThrow(/ENOENT/);
      }
    });

    it('keeps what was written', async () => {
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
});
