import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { applyMigrations } from './database/migrations.ts';
import { openDatabase } from './database/open.ts';
import type { Database } from './database/types.ts';

/**
 * Opens the configured database, past a pooler if there is one, migrates it, and closes it after some work.
 *
 * @param work is told the names of the migrations that were applied now
 */
export async function withMigratedDatabase(
  config: Config,
  log: Logger,
  migrations: URL,
  work: (database: Database, applied: readonly string[]) => Promise<void>,
): Promise<void> {
  const database = await openDatabase({
    databaseUrl: config.directDatabaseUrl ?? config.databaseUrl,
    dataDir: config.dataDir,
    startWaitSeconds: config.databaseStartWaitSeconds,
    log,
  });
  try {
    await work(database, await applyMigrations(database, log, migrations));
  } finally {
    await database.close();
  }
}
