import { createHash, randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import { pino } from 'pino';
import { advisoryLocks } from '../../src/database/advisory-locks.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { Database } from '../../src/database/types.ts';
import { applyMigrations, readMigrations } from '../../src/database/migrations.ts';

/** Where a test's own database is: give both to `openDatabase`. */
export interface ScratchDatabase {
  databaseUrl?: string;
  dataDir: string;
  /** A busy server is waited for. */
  startWaitSeconds: number;
  /** Removes it, connections that are still open included. Close an embedded one first. */
  drop(): Promise<void>;
}

/** The server that the tests run on; without it they run on embedded databases. */
export const testServerUrl = process.env.DATABASE_URL || undefined;

/** The migrations of the service. */
export const migrationsFolder = new URL('../../prisma/migrations/', import.meta.url);

/** How long a test waits for a server that has much else to do, in seconds. */
const startWaitSeconds = 30;

const TEMPLATES = fileURLToPath(new URL('../../node_modules/.cache/parking-gateway/', import.meta.url));

const log = pino({ level: 'warn' });

/**
 * Makes a database for one test file, on the server in DATABASE_URL or embedded. It is a copy of a template
 * with all migrations applied, which is made once and kept; `migrated: false` gives an empty one.
 */
export async function createScratchDatabase({ migrated = true } = {}): Promise<ScratchDatabase> {
  return testServerUrl === undefined ? createFolder(migrated) : createOnServer(testServerUrl, migrated);
}

/** Applies the migrations before the one with a name, as an earlier release left its database. */
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
  const name = `parking_test_${randomUUID().replaceAll('-', '')}`;
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
    // Renamed when it is complete: a template by that name is always whole.
    await server.query(`DROP DATABASE IF EXISTS ${name}_unfinished WITH (FORCE)`);
    await server.query(`CREATE DATABASE ${name}_unfinished TEMPLATE template1`);
    await migrate({ databaseUrl: withDatabaseName(serverUrl, `${name}_unfinished`), dataDir: 'memory://' });
    await server.query(`ALTER DATABASE ${name}_unfinished RENAME TO ${name}`);
  }
  await server.query('SELECT pg_advisory_unlock($1)', [advisoryLocks.testTemplate]);
  return name;
}

async function createFolder(migrated: boolean): Promise<ScratchDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parking-test-'));
  if (migrated) await cp(await ensureFolderTemplate(), dataDir, { recursive: true });
  return { dataDir, startWaitSeconds, drop: () => rm(dataDir, { recursive: true, force: true }) };
}

async function ensureFolderTemplate(): Promise<string> {
  const template = join(TEMPLATES, await templateName());
  if (await exists(template)) return template;
  await mkdir(TEMPLATES, { recursive: true });
  const unfinished = await mkdtemp(join(TEMPLATES, 'unfinished-'));
  await migrate({ dataDir: unfinished });
  await rename(unfinished, template).catch(async (error: unknown) => {
    // Another test process was faster.
    if (!(await exists(template))) throw error;
    await rm(unfinished, { recursive: true });
  });
  return template;
}

async function migrate(location: { databaseUrl?: string; dataDir: string }): Promise<void> {
  const database = await openDatabase({ ...location, startWaitSeconds, log });
  try {
    await applyMigrations(database, log, migrationsFolder);
  } finally {
    await database.close();
  }
}

/** Other migrations, another template. */
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
