import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { type Logger, pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { applyMigrations, readMigrations } from '../../src/database/migrations.ts';
import { loadConfig } from '../../src/config.ts';
import { migrationsFolder, withMigratedDatabase } from '../../src/migrated-database.ts';
import { loadSchemaEngine, noFilters, toMigrationList } from '../../prisma/schema-engine.ts';
import { openScratchDatabase, runMigrate } from '../support/database.ts';
import { startProxy } from '../support/proxy.ts';
import { createScratchDatabase, testServerUrl } from '../support/scratch-database.ts';
import type { ScratchDatabase } from '../support/scratch-database.ts';

const log = pino({ level: 'silent' });

/**
 * Writes the SQL scripts of migrations into a new folder in the layout that Prisma expects. The keys of `scripts` are
 * the names of the migrations.
 */
async function writeMigrations(scripts: Record<string, string>): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'parking-migrations-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, script] of Object.entries(scripts)) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'migration.sql'), script);
  }
  return pathToFileURL(`${folder}/`);
}

/** Creates a log, and a function that returns the text of the log. The log calls `onLine` for each line. */
function collectLog(onLine = () => {}): { log: Logger; text: () => string } {
  let lines = '';
  const write = (line: string) => {
    lines += line;
    onLine();
  };
  return { log: pino({ level: 'info' }, { write }), text: () => lines };
}

/**
 * Runs Prisma's schema engine on a database. If the database is embedded, the caller must close the database first,
 * because Prisma's schema engine opens the database itself.
 */
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

const HISTORY = {
  name: 'test_history',
  text: 'SELECT migration_name AS name FROM _prisma_migrations ORDER BY 1',
};

describe('migrations of the database', () => {
  it('each database migration is applied once when four processes start at the same time', async () => {
    const scratch = await createScratchDatabase({ migrated: false });
    onTestFinished(() => scratch.drop());
    const runs = await Promise.all([1, 2, 3, 4].map(() => runMigrate(scratch)));

    expect(runs.filter(({ output }) => output.includes('migrations applied'))).toHaveLength(1);
    if (testServerUrl) expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);

    const database = await openDatabase({ ...scratch, log });
    onTestFinished(() => database.close());
    const names = (await readMigrations(migrationsFolder)).map(({ name }) => ({ name }));
    expect(await database.sql.query(HISTORY, [])).toEqual(names);
    expect(await applyMigrations(database, log, migrationsFolder)).toEqual([]);
  });

  it.runIf(testServerUrl)(
    'a slow migration, and a process that waits for the migration, ignore the timeouts of the database',
    async () => {
      const scratch = await createScratchDatabase({ migrated: false });
      onTestFinished(() => scratch.drop());
      const client = new pg.Client({ connectionString: scratch.databaseUrl! });
      await client.connect();
      for (const limit of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) {
        await client.query(
          `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${limit} TO ''300ms''', current_database()); END $$`,
        );
      }
      await client.end();
      const folder = await writeMigrations({
        '1_slow': 'CREATE TABLE things (id int); DO $$ BEGIN PERFORM pg_sleep(1); END $$;',
        '2_index': 'CREATE INDEX CONCURRENTLY things_id ON things (id);',
      });
      const databases = await Promise.all([1, 2].map(() => openDatabase({ ...scratch, log })));
      onTestFinished(async () => void (await Promise.all(databases.map((database) => database.close()))));
      const applied = await Promise.all(databases.map((database) => applyMigrations(database, log, folder)));
      expect(applied.flat()).toEqual(['1_slow', '2_index']);
    },
  );

  it.runIf(testServerUrl)(
    'while a migration waits for a long query on a table, other processes can read the table, and the log names the migration',
    async () => {
      const { scratch, ...admin } = await openScratchDatabase({ migrated: false });
      await admin.prisma.$executeRawUnsafe('CREATE TABLE things (id int)');
      const folder = await writeMigrations({ '1_column': 'ALTER TABLE things ADD COLUMN color text;' });
      const [report, gate] = await Promise.all(
        [1, 2].map(async () => {
          const client = new pg.Client({ connectionString: scratch.databaseUrl! });
          onTestFinished(() => client.end());
          await client.connect();
          return client;
        }),
      );
      await report!.query('BEGIN; SELECT FROM things');
      const output = collectLog();
      const database = await openDatabase({ ...scratch, log: output.log });
      onTestFinished(() => database.close());
      const applied = [1, 2].map(() => applyMigrations(database, output.log, folder));
      const waiting = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE%'`;
      await expect.poll(async () => (await gate!.query(waiting)).rowCount).toBe(1);
      await gate!.query(`SET statement_timeout TO '30s'`);
      expect((await gate!.query('SELECT FROM things')).rowCount).toBe(0);
      await expect.poll(output.text).toContain('migration 1_column waits for a lock');
      await expect.poll(output.text).toContain('waiting until another process has applied its migrations');

      await report!.query('COMMIT');
      expect((await Promise.all(applied)).flat()).toEqual(['1_column']);
      expect((await gate!.query('SELECT color FROM things')).rowCount).toBe(0);
    },
  );

  it.runIf(testServerUrl)(
    'the migrations wait while the server in DIRECT_DATABASE_URL is unreachable, and the log names DIRECT_DATABASE_URL',
    async () => {
      const { scratch } = await openScratchDatabase({ migrated: false });
      const proxy = await startProxy(scratch.databaseUrl!);
      onTestFinished(() => proxy.close());
      const folder = await writeMigrations({ '1_first': 'CREATE TABLE first (id int);' });
      const output = collectLog(() => proxy.restore());
      const direct = { directDatabaseUrl: proxy.url, log: output.log };
      const [patient, impatient] = await Promise.all(
        [scratch.startWaitSeconds, 0].map(async (startWaitSeconds) => {
          const database = await openDatabase({ ...scratch, ...direct, startWaitSeconds });
          onTestFinished(() => database.close());
          return database;
        }),
      );
      proxy.cut();
      await expect(applyMigrations(impatient!, output.log, folder)).rejects.toThrow(
        'cannot connect to PostgreSQL at DIRECT_DATABASE_URL',
      );
      expect(await applyMigrations(patient!, output.log, folder)).toEqual(['1_first']);
      expect(output.text()).toContain('PostgreSQL at DIRECT_DATABASE_URL does not answer');

      const config = loadConfig({
        DATABASE_URL: scratch.databaseUrl,
        DIRECT_DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/parking',
        DATABASE_START_WAIT_SECONDS: '0',
      });
      await expect(withMigratedDatabase(config, log, async () => undefined)).rejects.toThrow(
        'cannot connect to PostgreSQL at DIRECT_DATABASE_URL',
      );
    },
  );

  it('Prisma accepts the migration history that the gateway has written to the database', async () => {
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

  it('after Prisma has applied a part of the database migrations, the gateway applies the rest, and Prisma then finds nothing left to apply', async () => {
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

  it('a gateway can write arrays of a PostgreSQL enum type as soon as its migrations have created the type', async () => {
    const database = await openScratchDatabase({ migrated: false });
    await applyMigrations(database, log, migrationsFolder);
    const { count } = await database.prisma.apiKey.updateMany({
      where: { permissions: { hasEvery: ['ADMIN', 'READ_STATUS'] } },
      data: { permissions: ['ADMIN'] },
    });
    expect(count).toBe(0);
  });

  it('the gateway does not split a migration script at semicolons inside comments, strings and functions', async () => {
    const database = await openScratchDatabase({ migrated: false });
    const folder = await writeMigrations({
      '1_function': `-- one; two
        CREATE FUNCTION answer() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'a;b'; END $$;`,
    });
    expect(await applyMigrations(database, log, folder)).toEqual(['1_function']);
    const rows = await database.sql.query({ name: 'answer', text: 'SELECT answer()' }, []);
    expect(rows).toEqual([{ answer: 'a;b' }]);
  });

  it('a migration that fails is rolled back, and the next start of the gateway runs the migration again', async () => {
    const database = await openScratchDatabase({ migrated: false });
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

  it('when PostgreSQL does not allow the SQL statement of a migration inside a transaction, the gateway runs the migration without a transaction', async () => {
    const database = await openScratchDatabase({ migrated: false });
    const folder = await writeMigrations({
      '1_table': 'CREATE TABLE plates (number text);',
      '2_index': 'CREATE INDEX CONCURRENTLY plates_number ON plates (number);',
    });
    expect(await applyMigrations(database, log, folder)).toEqual(['1_table', '2_index']);
    expect(await database.sql.query(HISTORY, [])).toEqual([{ name: '1_table' }, { name: '2_index' }]);
  });

  it('after a migration without a transaction has failed, the gateway does not start until an operator resolves the failure', async () => {
    const database = await openScratchDatabase({ migrated: false });
    const folder = await writeMigrations({
      '1_rows': 'CREATE TABLE plates (number text); INSERT INTO plates VALUES (1), (1);',
      '2_index': 'CREATE UNIQUE INDEX CONCURRENTLY plates_number ON plates (number);',
    });
    await expect(applyMigrations(database, log, folder)).rejects.toThrow(/2_index failed: [^]*unique index/);
    await expect(applyMigrations(database, log, folder)).rejects.toThrow(/2_index failed earlier/);
    const logs = { name: 'logs', text: 'SELECT logs FROM _prisma_migrations WHERE finished_at IS NULL' };
    expect(await database.sql.query(logs, [])).toEqual([{ logs: expect.stringContaining('unique index') }]);
  });

  it('the gateway does not start when the script of a migration was edited after the migration was applied', async () => {
    const database = await openScratchDatabase({ migrated: false });
    const folder = await writeMigrations({ '1_first': 'CREATE TABLE first (id int);' });
    await applyMigrations(database, log, folder);
    await writeFile(new URL('1_first/migration.sql', folder), 'CREATE TABLE first (id text);');
    await expect(applyMigrations(database, log, folder)).rejects.toThrow(/1_first was edited after/);
  });

  it('a gateway does not change a database that a newer gateway version has migrated', async () => {
    const database = await openScratchDatabase({ migrated: false });
    const newer = await writeMigrations({ '1_first': 'SELECT 1;', '2_second': 'SELECT 2;' });
    const older = await writeMigrations({ '1_first': 'SELECT 1;' });
    await applyMigrations(database, log, newer);
    expect(await applyMigrations(database, log, older)).toEqual([]);
  });
});
