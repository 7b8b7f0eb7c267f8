// `npm run keys:bootstrap`: makes the first key of an environment, an operator's, and prints its secret. Only its
// secret goes to the standard output, so that it can be put straight into a store of secrets.
import { pino } from 'pino';
import { createFirstOperatorKey } from './auth/operator-key.ts';
import { newSecret } from './auth/key-secret.ts';
import { loadConfig } from './config.ts';
import { applyMigrations } from './database/migrations.ts';
import { openDatabase } from './database/open.ts';

/** The bundle in dist/ lies as deep as this file. */
const migrations = new URL('../prisma/migrations/', import.meta.url);
const standardError = 2;

try {
  const config = loadConfig(process.env);
  const { databaseUrl, directDatabaseUrl, dataDir, logLevel, databaseStartWaitSeconds } = config;
  const { environment, keyPepper: pepper } = config;
  const log = pino({ level: logLevel }, pino.destination(standardError));
  const database = await openDatabase({
    databaseUrl: directDatabaseUrl ?? databaseUrl,
    dataDir,
    startWaitSeconds: databaseStartWaitSeconds,
    log,
  });
  try {
    await applyMigrations(database, log, migrations);
    const secret = newSecret(environment);
    if (!(await createFirstOperatorKey(database.prisma, { secret, environment, pepper }))) {
      throw new Error(
        `There are keys for ${environment} already, and nothing was made: issue more with one of them (pms keys create). If all are lost, start the gateway with OPERATOR_API_KEY.`,
      );
    }
    process.stdout.write(`${secret}\n`);
  } finally {
    await database.close();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
