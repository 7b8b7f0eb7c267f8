import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { advisoryLocks } from '../../src/database/advisory-locks.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { Database } from '../../src/database/types.ts';
import { applyMigrations, readMigrations } from '../../src/database/migrations.ts';
import { migrationsFolder } from '../../src/migrated-database.ts';

/** A new database for tests, with the options that `openDatabase` needs. */
export interface ScratchDatabase {
  databaseUrl?: string;
  dataDir: string;
  /** How long a gateway may wait at its start until the database server accepts a connection, in seconds. */
  startWaitSeconds: number;
  /**
   * Removes the database. Close an embedded database before you call `drop`. When you call `drop` for a database on a
   * PostgreSQL server, its connections may still be open.
   */
  drop(): Promise<void>;
}

/**
 * The URL of the PostgreSQL server for the test run. When DATABASE_URL is not set, the tests run on embedded databases.
 */
export const testServerUrl = process.env.DATABASE_URL || undefined;

/**
 * The time in seconds within which a PostgreSQL server must accept a connection of a test, even if the server is busy.
 */
const startWaitSeconds = 30;

/**
 * The identifier of a test run. The name of each test database contains the identifier of the test run. Test workers
 * inherit the variable TEST_RUN_ID from the global setup, so all workers use the same identifier.
 */
const runId = (process.env.TEST_RUN_ID ??= randomUUID().slice(0, 8));
const databasePrefix = `parking_test_${runId}_`;
const folderPrefix = `parking-test-${runId}-`;

const TEMPLATES = fileURLToPath(new URL('../../node_modules/.cache/parking-gateway/', import.meta.url));

const log = pino({ level: 'warn' });

/**
 * Creates a database for one test file. If DATABASE_URL is set, the function creates the database on the server in
 * DATABASE_URL. If DATABASE_URL is not set, the function creates an embedded database. The new database is a copy of a
 * template database, to which all migrations have been applied. Later test runs copy the existing template database.
 * With the option `migrated: false`, the function creates an empty database instead of a copy of the template database.
 */
export async function createScratchDatabase({ migrated = true } = {}): Promise<ScratchDatabase> {
  return testServerUrl === undefined
    ? createEmbeddedDatabase(migrated)
    : createOnServer(testServerUrl, migrated);
}

/**
 * Removes all databases that still exist at the end of the test run, such as databases that several test files share.
 */
export async function removeDatabasesOfRun(): Promise<void> {
  if (testServerUrl !== undefined) {
    await withServer(testServerUrl, async (server) => {
      const { rows } = await server.query<{ name: string }>(
        'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
        [databasePrefix],
      );
      for (const { name } of rows) await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    });
  }
  const folders = (await readdir(tmpdir())).filter((name) => name.startsWith(folderPrefix));
  await Promise.all(folders.map((name) => rm(join(tmpdir(), name), { recursive: true, force: true })));
}

/** Applies all migrations before the named migration, so that the database has the schema of an earlier release. */
export async function migrateUpTo(database: Database, first: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'parking-migrations-'));
  try {
    for (const { name } of await readMigrations(migrationsFolder)) {
      if (name < first) await cp(new URL(name, migrationsFolder), join(folder, name), { recursive: true });
    }
    await applyMigrations(database, log, pathToFileURL(`${folder}/`));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function createOnServer(serverUrl: string, migrated: boolean): Promise<ScratchDatabase> {
  const name = `${databasePrefix}${randomUUID().replaceAll('-', '')}`;
  await withServer(serverUrl, async (server) => {
    const template = migrated ? await ensureServerTemplate(server, serverUrl) : 'template1';
    await server.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  });
  return {
    databaseUrl: withDatabaseName(serverUrl, name),
    dataDir: 'memory://',
    startWaitSeconds,
    drop: () =>
      withServer(serverUrl, (server) => server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

async function ensureServerTemplate(server: pg.Client, serverUrl: string): Promise<string> {
  const name = await templateName();
  await server.query('SELECT pg_advisory_lock($1)', [advisoryLocks.testTemplate]);
  const { rowCount } = await server.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  if (rowCount === 0) {
    // A template database gets its final name only after all migrations have been applied, so a template with this name
    // is complete.
    await server.query(`DROP DATABASE IF EXISTS ${name}_unfinished WITH (FORCE)`);
    await server.query(`CREATE DATABASE ${name}_unfinished TEMPLATE template1`);
    await makeTemplate({
      databaseUrl: withDatabaseName(serverUrl, `${name}_unfinished`),
      dataDir: 'memory://',
    });
    await server.query(`ALTER DATABASE ${name}_unfinished RENAME TO ${name}`);
  }
  await server.query('SELECT pg_advisory_unlock($1)', [advisoryLocks.testTemplate]);
  return name;
}

/** Creates an embedded database, even when the test run uses a PostgreSQL server. */
export async function createEmbeddedDatabase(migrated = true): Promise<ScratchDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), folderPrefix));
  // The program `cp` copies the thousand files of an embedded database. Node would need four times as much CPU time as
  // `cp` to copy these files.
  await promisify(execFile)('cp', ['-r', `${await ensureFolderTemplate(migrated)}/.`, dataDir]);
  return { dataDir, startWaitSeconds, drop: () => rm(dataDir, { recursive: true, force: true }) };
}

async function ensureFolderTemplate(migrated: boolean): Promise<string> {
  const template = join(TEMPLATES, migrated ? await templateName() : 'empty');
  if (await exists(template)) return template;
  await mkdir(TEMPLATES, { recursive: true });
  const unfinished = await mkdtemp(join(TEMPLATES, 'unfinished-'));
  await makeTemplate({ dataDir: unfinished }, migrated);
  await rename(unfinished, template).catch(async (error: unknown) => {
    // `rename` fails if another test process has created the same template database in the meantime.
    if (!(await exists(template))) throw error;
    await rm(unfinished, { recursive: true });
  });
  return template;
}

async function makeTemplate(
  location: { databaseUrl?: string; dataDir: string },
  migrated = true,
): Promise<void> {
  const database = await openDatabase({ ...location, startWaitSeconds, log });
  try {
    if (migrated) await applyMigrations(database, log, migrationsFolder);
  } finally {
    await database.close();
  }
}

/**
 * Returns the name of the template database. The name of the template database contains a hash of all migrations, so a
 * new migration leads to a new template database.
 */
async function templateName(): Promise<string> {
  const hash = createHash('sha256');
  for (const { name, checksum } of await readMigrations(migrationsFolder))
    hash.update(`${name} ${checksum}\n`);
  return `parking_template_${hash.digest('hex').slice(0, 16)}`;
}

async function withServer(serverUrl: string, work: (server: pg.Client) => Promise<unknown>): Promise<void> {
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  try {
    await work(server);
  } finally {
    await server.end();
  }
}

/** Returns the URL of a database, given its name and the URL of its server or pooler. */
export function withDatabaseName(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
