import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database, MigrationConnection, Sql, Statement } from './types.ts';
import { DatabaseStartError } from './start-error.ts';
import { isLockFailure, property } from './violations.ts';

/** One migration, which is a folder in prisma/migrations with the layout that Prisma requires. */
export interface Migration {
  /**
   * The name of the migration's folder: `<timestamp>_<what the migration does>`. The alphabetical order of the folder
   * names is the order in which the migrations are applied.
   */
  name: string;
  script: string;
  /** The SHA-256 digest of the migration script in hex, as Prisma stores it in the history of migrations. */
  checksum: string;
}

/**
 * A row in the database table with the history of migrations. If `finished` is true, the migration has been applied
 * completely. If `finished` is false, the migration has failed, or another process is applying the migration without a
 * transaction.
 */
interface AppliedMigration {
  name: string;
  checksum: string;
  finished: boolean;
}

/**
 * The SQLSTATE that PostgreSQL returns for a statement that cannot run inside a transaction, such as CREATE INDEX
 * CONCURRENTLY.
 */
const ACTIVE_TRANSACTION = '25001';

/**
 * The maximum time for which a migration that runs in a transaction waits for a lock, in milliseconds. While a
 * migration waits for the lock of a table, PostgreSQL blocks all later statements on this table, even reads. A gate
 * decision in another gateway process fails when its SQL statement has been blocked for 2 s.
 * `MIGRATION_LOCK_TIMEOUT_MS` is therefore shorter than 2 s.
 */
const MIGRATION_LOCK_TIMEOUT_MS = 1_000;
/**
 * The pause of the gateway after a migration could not get a lock, in milliseconds. After this pause, the gateway runs
 * the migration again. While the gateway pauses, PostgreSQL runs the SQL statements that had to wait because of the
 * migration.
 */
const MIGRATION_LOCK_PAUSE_MS = 5_000;

const historyExists: Statement = {
  name: 'migration_history_exists',
  text: `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS "exists"`,
};

const readApplied: Statement = {
  name: 'migration_history',
  text: `SELECT migration_name AS "name", checksum, finished_at IS NOT NULL AS "finished"
    FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
};

/**
 * SQL that creates the table of the migration history. The table has the same columns as the table in which Prisma
 * stores its migrations, so that Prisma's commands work on the same database.
 */
const createHistory = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL,
    logs TEXT,
    rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`;

/**
 * Applies the pending migrations. The command `prisma migrate deploy` of Prisma does the same with the same files, and
 * also records the migrations in the table `_prisma_migrations`. If several processes start at the same time, one
 * process applies the migrations, and the other processes wait. If no migration is pending, `applyMigrations` runs only
 * two short SQL queries.
 *
 * @returns the names of the migrations that this call applied.
 * @throws {DatabaseStartError} when the file of an applied migration was edited, when an earlier migration is
 *   incomplete, or when a migration fails.
 */
export async function applyMigrations(database: Database, log: Logger, folder: URL): Promise<string[]> {
  const migrations = await readMigrations(folder);
  if (!needsWork(migrations, await readHistory(database.sql), log)) return [];

  return database.withMigrationLock(async (connection) => {
    // Another process may have applied the migrations while this process was waiting for the migration lock. This
    // process therefore reads the history of migrations a second time when it has the migration lock.
    const history = await readHistory(database.sql);
    if (!needsWork(migrations, history, log)) return [];
    const unfinished = history.find(({ finished }) => !finished);
    if (unfinished) {
      throw new DatabaseStartError(
        `migration ${unfinished.name} failed earlier. Repair the database, then mark the migration with ` +
          `"prisma migrate resolve --rolled-back ${unfinished.name}" (or --applied) and start again.`,
      );
    }
    await connection.runScript(createHistory);
    const applied = new Set(history.map(({ name }) => name));
    const pending = migrations.filter(({ name }) => !applied.has(name));
    for (const migration of pending) await applyMigration(connection, migration, log);
    const names = pending.map(({ name }) => name);
    log.info({ migrations: names }, 'migrations applied');
    return names;
  });
}

/**
 * Reads the migrations of a folder in the order in which they are applied.
 *
 * @throws when the folder of the migrations or the script of a migration is missing.
 */
export async function readMigrations(folder: URL): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const script = await readFile(new URL(`${name}/migration.sql`, folder), 'utf8');
      return { name, script, checksum: createHash('sha256').update(script).digest('hex') };
    }),
  );
}

/**
 * Applies one migration. If the migration cannot get a lock in time, for example during a backup with `pg_dump`, the
 * gateway rolls the migration back. The gateway then pauses and runs the migration again, until the migration gets all
 * its locks. If PostgreSQL refuses to run a migration's script in a transaction, the gateway runs the script without a
 * transaction.
 */
async function applyMigration(
  connection: MigrationConnection,
  migration: Migration,
  log: Logger,
): Promise<void> {
  for (;;) {
    try {
      return await applyInTransaction(connection, migration);
    } catch (error) {
      // If the connection is lost, ROLLBACK fails, and PostgreSQL rolls the transaction back by itself.
      await connection.runScript('ROLLBACK').catch(() => undefined);
      if (property(error, 'code') === ACTIVE_TRANSACTION) {
        return applyWithoutTransaction(connection, migration);
      }
      if (!isLockFailure(error)) throw migrationFailed(migration, error);
      log.warn(
        `migration ${migration.name} waits for a lock: another transaction, such as a backup, uses the same table; ` +
          `trying again in ${MIGRATION_LOCK_PAUSE_MS / 1_000} s`,
      );
      await sleep(MIGRATION_LOCK_PAUSE_MS);
    }
  }
}

/**
 * Runs a migration and adds its row to the history of migrations in one transaction, so that PostgreSQL rolls the whole
 * migration back if the process crashes.
 */
async function applyInTransaction(connection: MigrationConnection, migration: Migration): Promise<void> {
  await connection.runScript(`BEGIN; SET LOCAL lock_timeout TO ${MIGRATION_LOCK_TIMEOUT_MS}`);
  const id = await startHistoryRow(connection, migration);
  await connection.runScript(migration.script);
  await finishHistoryRow(connection, id);
  await connection.runScript('COMMIT');
}

/**
 * Runs the script of a migration without a transaction. If a script without a transaction fails, PostgreSQL does not
 * roll back the statements that have already succeeded. The history of migrations (table `_prisma_migrations`) then
 * contains this migration as unfinished. While the history of migrations contains an unfinished migration, every
 * gateway process exits with an error when it starts.
 */
async function applyWithoutTransaction(connection: MigrationConnection, migration: Migration): Promise<void> {
  const id = await startHistoryRow(connection, migration);
  try {
    await connection.runScript(migration.script);
  } catch (error) {
    await connection
      .query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [id, (error as Error).message])
      .catch(() => undefined);
    throw migrationFailed(migration, error);
  }
  await finishHistoryRow(connection, id);
}

async function startHistoryRow(
  connection: MigrationConnection,
  { name, checksum }: Migration,
): Promise<string> {
  const id = randomUUID();
  await connection.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at)
     VALUES ($1, $2, $3, clock_timestamp())`,
    [id, checksum, name],
  );
  return id;
}

async function finishHistoryRow(connection: MigrationConnection, id: string): Promise<void> {
  await connection.query(
    'UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE id = $1',
    [id],
  );
}

function migrationFailed({ name }: Migration, error: unknown): Error {
  return new DatabaseStartError(`migration ${name} failed: ${(error as Error).message}`, { cause: error });
}

/**
 * Whether a migration is pending, or the history of migrations contains an unfinished migration.
 *
 * @throws {DatabaseStartError} when the file of an applied migration was edited
 */
function needsWork(migrations: Migration[], history: AppliedMigration[], log: Logger): boolean {
  const applied = new Map(
    history.filter(({ finished }) => finished).map(({ name, checksum }) => [name, checksum]),
  );
  const edited = migrations.find(({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum);
  if (edited) {
    throw new DatabaseStartError(
      `migration ${edited.name} was edited after it had been applied to this database. Restore its ` +
        `migration.sql and put the change in a new migration.`,
    );
  }
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = history.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  if (unknown.length > 0) log.warn({ migrations: unknown }, 'the database has migrations of a newer version');
  return history.some(({ finished }) => !finished) || migrations.some(({ name }) => !applied.has(name));
}

async function readHistory(sql: Sql): Promise<AppliedMigration[]> {
  const [row] = await sql.query<{ exists: boolean }>(historyExists, []);
  return row?.exists ? sql.query<AppliedMigration>(readApplied, []) : [];
}
