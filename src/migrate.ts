// `npm run migrate` applies the pending migrations and exits. A deployment runs this command before it starts gateway
// processes.
import { pino } from 'pino';
import { loadConfig } from './config.ts';
import { withMigratedDatabase } from './migrated-database.ts';

/**
 * The folder of the migrations. The relative path is valid here and in the bundle, because `dist/` and `src/` are in
 * the same folder.
 */
const migrations = new URL('../prisma/migrations/', import.meta.url);

try {
  const config = loadConfig(process.env);
  const log = pino({ level: config.logLevel });
  await withMigratedDatabase(config, log, migrations, async (_, applied) => {
    if (applied.length === 0) log.info('no migration is pending');
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
