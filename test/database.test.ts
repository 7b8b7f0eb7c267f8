import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isUniqueViolation } from '../src/database/violations.ts';
import { openDatabase } from '../src/database/open.ts';
import type { Database } from '../src/database/types.ts';
import { applyMigrations, readMigrations } from '../src/database/migrations.ts';
import { loadSchemaEngine, noFilters, toMigrationList } from '../prisma/schema-engine.ts';
import { createScratchDatabase, migrationsFolder, testServerUrl } from './support/scratch-database.ts';
import type { ScratchDatabase } from './support/scratch-database.ts';

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

/** Runs Prisma's schema engine on a database. An embedded one must not be open meanwhile. */
async function withSchemaEngine<Result>(
  { databaseUrl, dataDir }: ScratchDatabase,
  work: (engine: SchemaEngine) => Promise<Result>,
): Promise<Result> {
  const connections = databaseUrl
    ? new pg.Pool({ connectionString: databaseUrl })
    : await PGlite.create(join(dataDir, 'postgres'));
  const engine = await loadSchemaEngine(
    connections instanceof PGlite ? new PrismaPGlite(connections) : new PrismaPg(connections),
  );
  try {
    return await work(engine);
  } finally {
    engine.free();
    await (connections instanceof PGlite ? connections.close() : connections.end());
  }
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

/** Starts test/support/embedded-owner.ts on a folder. */
function startOwner({ dataDir }: ScratchDatabase) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/support/embedded-owner.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return {
    child,
    output: () => output,
    /** The lines that are complete. */
    lines: () => output.split('\n').slice(0, -1),
  };
}

const HISTORY = {
  name: 'test_history',
  text: 'SELECT migration_name AS name FROM _prisma_migrations ORDER BY 1',
};

describe(`database on ${onServer ? 'PostgreSQL' : 'the embedded database'}`, () => {
  describe('migrations', () => {
    it('apply once, though four processes start at once', async () => {
      const scratch = await createScratchDatabase({ migrated: false });
      onTestFinished(() => scratch.drop());
      const runs = await Promise.all([1, 2, 3, 4].map(() => runMigrate(scratch)));

      expect(runs.filter(({ output }) => output.includes('migrations applied'))).toHaveLength(1);
      if (onServer) expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);

      const database = await openDatabase({ ...scratch, log });
      onTestFinished(() => database.close());
      const names = (await readMigrations(migrationsFolder)).map(({ name }) => ({ name }));
      expect(await database.sql.query(HISTORY, [])).toEqual(names);
      expect(await applyMigrations(database, log, migrationsFolder)).toEqual([]);
    });

    it('leave a history that Prisma finds in order', async () => {
      const scratch = await createScratchDatabase();
      onTestFinished(() => scratch.drop());
      const migrationsList = toMigrationList(await readMigrations(migrationsFolder), migrationsFolder);
      const diagnosis = await withSchemaEngine(scratch, (engine) =>
        engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters: noFilters }),
      );
      expect(diagnosis).toMatchObject({
        history: null,
        failedMigrationNames: [],
        editedMigrationNames: [],
        hasMigrationsTable: true,
      });
    });

    it('go on where Prisma stopped, and Prisma finds nothing left to do', async () => {
      const scratch = await createScratchDatabase({ migrated: false });
      onTestFinished(() => scratch.drop());
      const folder = await writeMigrations({ '1_first': 'CREATE TABLE first (id int);' });
      const applyWithPrisma = async () => {
        const migrationsList = toMigrationList(await readMigrations(folder), folder);
        return withSchemaEngine(scratch, (engine) =>
          engine.applyMigrations({ migrationsList, filters: noFilters }),
        );
      };
      await applyWithPrisma();

      await mkdir(new URL('2_second/', folder));
      await writeFile(new URL('2_second/migration.sql', folder), 'CREATE TABLE second (id int);');
      const database = await openDatabase({ ...scratch, log });
      expect(await applyMigrations(database, log, folder)).toEqual(['2_second']);
      expect(await applyMigrations(database, log, folder)).toEqual([]);
      const rows = await database.sql.query<Record<string, unknown>>(
        {
          name: 'history_rows',
          text: `SELECT length(id) AS id, checksum, migration_name, logs, rolled_back_at, applied_steps_count,
            started_at < finished_at AS finished FROM _prisma_migrations ORDER BY migration_name`,
        },
        [],
      );
      const { checksum: _, migration_name: __, ...byPrisma } = rows[0]!;
      expect(rows[1]).toMatchObject({ ...byPrisma, migration_name: '2_second' });
      await database.close();

      expect(await applyWithPrisma()).toEqual({ appliedMigrationNames: [] });
    });

    it('writes arrays of an enum that the migrations of the same start made', async () => {
      const database = await openScratch({ migrated: false });
      await applyMigrations(database, log, migrationsFolder);
      const { count } = await database.prisma.apiKey.updateMany({
        where: { permissions: { hasEvery: ['ADMIN', 'READ_STATUS'] } },
        data: { permissions: ['ADMIN'] },
      });
      expect(count).toBe(0);
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

    it('stop at one that fails, which leaves nothing behind, so that the next start tries it again', async () => {
      const database = await openScratch({ migrated: false });
      const folder = await writeMigrations({
        '1_good': 'CREATE TABLE good (id int);',
        '2_bad': 'CREATE TABLE half (id int); SELECT * FROM missing;',
        '3_last': 'CREATE TABLE last (id int);',
      });
      await expect(applyMigrations(database, log, folder)).rejects.toThrow(/2_bad failed: [^]*missing/);
      await expect(applyMigrations(database, log, folder)).rejects.toThrow(/2_bad failed: [^]*missing/);
      const tables = await database.sql.query(
        {
          name: 'tables',
          text: `SELECT to_regclass('good') IS NULL AS good, to_regclass('half') IS NULL AS half`,
        },
        [],
      );
      expect(tables).toEqual([{ good: false, half: true }]);
      await database.prisma.$executeRawUnsafe('CREATE TABLE missing (id int)');
      expect(await applyMigrations(database, log, folder)).toEqual(['2_bad', '3_last']);
    });

    it('run a script that PostgreSQL allows only outside of a transaction', async () => {
      const database = await openScratch({ migrated: false });
      const folder = await writeMigrations({
        '1_table': 'CREATE TABLE plates (number text);',
        '2_index': 'CREATE INDEX CONCURRENTLY plates_number ON plates (number);',
      });
      expect(await applyMigrations(database, log, folder)).toEqual(['1_table', '2_index']);
      expect(await database.sql.query(HISTORY, [])).toEqual([{ name: '1_table' }, { name: '2_index' }]);
    });

    it('stop at such a script that failed, until somebody has looked at it', async () => {
      const database = await openScratch({ migrated: false });
      const folder = await writeMigrations({
        '1_rows': 'CREATE TABLE plates (number text); INSERT INTO plates VALUES (1), (1);',
        '2_index': 'CREATE UNIQUE INDEX CONCURRENTLY plates_number ON plates (number);',
      });
      await expect(applyMigrations(database, log, folder)).rejects.toThrow(
        /2_index failed: [^]*unique index/,
      );
      await expect(applyMigrations(database, log, folder)).rejects.toThrow(/2_index failed earlier/);
      const logs = { name: 'logs', text: 'SELECT logs FROM _prisma_migrations WHERE finished_at IS NULL' };
      expect(await database.sql.query(logs, [])).toEqual([{ logs: expect.stringContaining('unique index') }]);
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
      await expect.poll(() => database.state()).toBe('ok');
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

    it('has one owner of twenty that start at once, is free when that one is killed, and keeps every row', async () => {
      const scratch = await createScratchDatabase({ migrated: false });
      onTestFinished(() => scratch.drop());
      const starts = Array.from({ length: 20 }, () => startOwner(scratch));
      const refused = () => starts.filter(({ child }) => child.exitCode === 1);
      await vi.waitUntil(() => refused().length === 19, { timeout: 80_000, interval: 50 });
      const owner = starts.find(({ child }) => child.exitCode === null)!;
      for (const { output } of refused()) {
        expect(output()).toContain(`is in use by process ${owner.child.pid}`);
      }
      await vi.waitUntil(() => owner.lines().length > 20, { timeout: 80_000, interval: 50 });
      owner.child.kill('SIGKILL');
      await once(owner.child, 'close');

      const [, ...acknowledged] = owner.lines();
      const database = await openDatabase({ ...scratch, log });
      onTestFinished(() => database.close());
      const kept = await database.prisma.company.findMany({ select: { slug: true } });
      expect(kept.map(({ slug }) => slug)).toEqual(expect.arrayContaining(acknowledged));
    }, 180_000);

    it.each([
      ['before its files are complete', 'postgres.unfinished/PG_VERSION'],
      ['when its files are complete', 'postgres/PG_VERSION'],
    ])('opens after a first start that was killed %s', async (_, file) => {
      const scratch = await createScratchDatabase({ migrated: false });
      onTestFinished(() => scratch.drop());
      const first = startOwner(scratch);
      await vi.waitUntil(() => existsSync(join(scratch.dataDir, file)), { timeout: 80_000, interval: 1 });
      first.child.kill('SIGKILL');
      await once(first.child, 'close');

      const database = await openDatabase({ ...scratch, log });
      onTestFinished(() => database.close());
      expect(await applyMigrations(database, log, migrationsFolder)).not.toEqual([]);
      await expect(access(join(scratch.dataDir, 'postgres.unfinished'))).rejects.toThrow(/ENOENT/);
    });

    it('is readable by its owner only', async () => {
      const parent = await mkdtemp(join(tmpdir(), 'parking-test-'));
      onTestFinished(() => rm(parent, { recursive: true }));
      const dataDir = join(parent, 'data');
      const database = await openDatabase({ dataDir, log });
      onTestFinished(() => database.close());
      const names = ['', ...(await readdir(dataDir, { recursive: true }))];
      const modes = await Promise.all(names.map(async (name) => (await stat(join(dataDir, name))).mode));
      expect(names.filter((_, index) => (modes[index]! & 0o077) !== 0)).toEqual([]);
    });

    it('stops the start with its name when it cannot be opened', async () => {
      const scratch = await createScratchDatabase();
      onTestFinished(() => scratch.drop());
      await rm(join(scratch.dataDir, 'postgres', 'global'), { recursive: true });
      const { code, output } = await runMigrate(scratch);
      expect(code).toBe(1);
      expect(output).toContain(`DATA_DIR ${scratch.dataDir} cannot be opened`);
      expect(output).not.toContain('    at ');
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
