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

/** The place of a database for one test file. Pass both values to `openDatabase`. */
export interface ScratchDatabase {
  databaseUrl?: string;
  dataDir: string;
  /** Timeouts of the database that are long enough for tests on a busy server. */
  startWaitSeconds: number;
  /** Removes the database, even while connections are open. Close an embedded database before this call. */
  drop(): Promise<void>;
}

/** The URL of the PostgreSQL server for the test run. Without the URL, the tests run on embedded databases. */
export const testServerUrl = process.env.DATABASE_URL || undefined;

/** The folder with the migrations of the gateway. */
export const migrationsFolder = new URL('../../prisma/migrations/', import.meta.url);

/** The maximum time that a test waits for a busy PostgreSQL server to accept connections, in seconds. */
const startWaitSeconds = 30;

/**
 * The common prefix in the names of all databases of a test run. The workers inherit the variable from the global
 * setup.
 */
const runId = (process.env.TEST_RUN_ID ??= randomUUID().slice(0, 8));
const databasePrefix = `parking_test_${runId}_`;
const folderPrefix = `parking-test-${runId}-`;

const TEMPLATES = fileURLToPath(new URL('../../node_modules/.cache/parking-gateway/', import.meta.url));

const log = pino({ level: 'warn' });

/**
 * Creates a database for one test file, on the server in DATABASE_URL or embedded. The database is a copy of a template
 * with all migrations, which is created once and kept; `migrated: false` creates an empty database.
 */
export async function createScratchDatabase({ migrated = true } = {}): Promise<ScratchDatabase> {
  return testServerUrl === undefined
    ? createEmbeddedDatabase(migrated)
    : createOnServer(testServerUrl, migrated);
}

/**
 * Removes every database that the test run left behind. A database that several test files share ends with its worker.
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

/** Applies all migrations before the named migration, to create the database of an earlier release. */
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
    // A template database gets its final name only when all migrations are applied, so a database with this name is
    // never incomplete.
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
  // cp takes a quarter of the CPU time that Node needs to copy a thousand files.
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
    // Another test process has already created the template database.
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
 * Returns the name of the template database. The name depends on the migrations, so a new migration leads to a new
 * template.
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

/** The URL of a database on a server, or behind a pooler. */
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
