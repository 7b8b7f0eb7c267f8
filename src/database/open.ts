import { openEmbedded } from './embedded.ts';
import { openPostgres } from './postgres.ts';
import type { Database, DatabaseOptions } from './types.ts';

/**
 * Opens PostgreSQL when `databaseUrl` is set, the embedded database otherwise. Applies no migration.
 *
 * @throws {DatabaseStartError} when PostgreSQL does not answer, or when another process uses the folder.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl } = options;
  return databaseUrl === undefined
    ? openEmbedded(options.dataDir)
    : openPostgres({ ...options, databaseUrl });
}
