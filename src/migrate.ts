// `npm run migrate` applies the pending database migrations and exits. In a deployment, run `npm run migrate` before
// the gateway processes start.
import { pino } from 'pino';
import { loadConfig } from './config.ts';
import { withMigratedDatabase } from './migrated-database.ts';

// In a container, the script is process 1. Linux ignores a signal to process 1 if the process has no listener for this
// signal. The script therefore adds a listener for SIGTERM and SIGINT.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(1));

try {
  const config = loadConfig(process.env);
  const log = pino({ level: config.logLevel });
  await withMigratedDatabase(config, log, async (_, applied) => {
    if (applied.length === 0) log.info('no migration is pending');
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
