// `npm run migrate`: applies the migrations and ends, for deployments that migrate before they start.
import { pino } from 'pino';
import { loadConfig } from './config.ts';
import { openDatabase } from './db.ts';
import { applyMigrations } from './migrations.ts';

try {
  const { databaseUrl, dataDir, logLevel } = loadConfig(process.env);
  const log = pino({ level: logLevel });
  const database = await openDatabase({ databaseUrl, dataDir, log });
  try {
    const applied = await applyMigrations(database, log);
    if (applied.length === 0) log.info('no migration is pending');
  } finally {
    await database.close();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
