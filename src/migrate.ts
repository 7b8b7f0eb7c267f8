// `npm run migrate`: applies the migrations and ends, for deployments that migrate before they start.
import { pino } from 'pino';
import { loadConfig } from './config.ts';
import { openDatabase } from './database/open.ts';
import { applyMigrations } from './database/migrations.ts';

/** The bundle in dist/ lies as deep as this file. */
const migrations = new URL('../prisma/migrations/', import.meta.url);

try {
  const { databaseUrl, directDatabaseUrl, dataDir, logLevel, databaseStartWaitSeconds } = loadConfig(
    process.env,
  );
  const log = pino({ level: logLevel });
  const database = await openDatabase({
    databaseUrl: directDatabaseUrl ?? databaseUrl,
    dataDir,
    startWaitSeconds: databaseStartWaitSeconds,
    log,
  });
  try {
    const applied = await applyMigrations(database, log, migrations);
    if (applied.length === 0) log.info('no migration is pending');
  } finally {
    await database.close();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
