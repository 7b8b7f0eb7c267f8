import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { applyMigrations } from './database/migrations.ts';
import { openDatabase } from './database/open.ts';
import type { Database } from './database/types.ts';

/**
 * The folder with the SQL files of the database migrations. The relative path `../prisma/migrations/` works in `src/`
 * and in the bundle in `dist/`, because both folders have the same parent folder.
 */
export const migrationsFolder = new URL('../prisma/migrations/', import.meta.url);

/**
 * Opens the configured database, applies the migrations, calls `work`, and closes the database. If
 * `DIRECT_DATABASE_URL` is set, the connection uses `DIRECT_DATABASE_URL`, because migrations cannot run through a
 * pooler.
 *
 * @param work a function that receives the database, and the names of the migrations that were applied just now
 */
export async function withMigratedDatabase(
  config: Config,
  log: Logger,
  work: (database: Database, applied: readonly string[]) => Promise<void>,
): Promise<void> {
  const database = await openDatabase({
    databaseUrl: config.directDatabaseUrl ?? config.databaseUrl,
    urlVariable: config.directDatabaseUrl === undefined ? 'DATABASE_URL' : 'DIRECT_DATABASE_URL',
    // `DATABASE_PREPARE` describes the pooler. A direct connection to PostgreSQL supports prepared statements and time
    // limits.
    prepareStatements: config.directDatabaseUrl !== undefined || config.databasePrepare,
    dataDir: config.dataDir,
    startWaitSeconds: config.databaseStartWaitSeconds,
    log,
  });
  try {
    await work(database, await applyMigrations(database, log, migrationsFolder));
  } finally {
    await database.close();
  }
}
