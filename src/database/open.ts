import type { Database, DatabaseOptions } from './types.ts';

/**
 * Opens PostgreSQL when `databaseUrl` is set, and the embedded database otherwise. `openDatabase` does not apply
 * migrations.
 *
 * @throws {DatabaseStartError} when the gateway cannot connect to PostgreSQL, when another process uses the folder of
 *   the embedded database, or when the embedded database cannot be opened.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl } = options;
  // The module of the embedded PostgreSQL occupies much memory, so it is loaded only when no `databaseUrl` is set.
  if (databaseUrl === undefined) {
    const { openEmbedded } = await import('./embedded.ts');
    return openEmbedded(options.dataDir);
  }
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres({ ...options, databaseUrl });
}
