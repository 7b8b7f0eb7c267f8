import type { Database, DatabaseOptions } from './types.ts';

/**
 * Opens PostgreSQL when `databaseUrl` is set, the embedded database otherwise. Applies no migration.
 *
 * @throws {DatabaseStartError} when PostgreSQL does not answer, or when another process uses the folder.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl } = options;
  // Only what is used is loaded: the embedded PostgreSQL takes memory that a gateway on a server does not need.
  if (databaseUrl === undefined) {
    const { openEmbedded } = await import('./embedded.ts');
    return openEmbedded(options.dataDir);
  }
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres({ ...options, databaseUrl });
}
