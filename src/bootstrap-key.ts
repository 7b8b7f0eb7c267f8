// `npm run keys:bootstrap`: makes the first key of an environment, an operator's, and prints its secret. Only its
// secret goes to the standard output, so that it can be put straight into a store of secrets.
import { pino } from 'pino';
import { createFirstOperatorKey } from './auth/operator-key.ts';
import { newSecret } from './auth/key-secret.ts';
import { loadConfig } from './config.ts';
import { withMigratedDatabase } from './migrated-database.ts';

/** The bundle in dist/ lies as deep as this file. */
const migrations = new URL('../prisma/migrations/', import.meta.url);
const standardError = 2;

try {
  const config = loadConfig(process.env);
  const { environment, keyPepper: pepper } = config;
  const log = pino({ level: config.logLevel }, pino.destination(standardError));
  await withMigratedDatabase(config, log, migrations, async ({ prisma }) => {
    const secret = newSecret(environment);
    if (!(await createFirstOperatorKey(prisma, { secret, environment, pepper }))) {
      throw new Error(
        `There are keys for ${environment} already, and nothing was made: issue more with one of them (pms keys create). If all are lost, start the gateway with OPERATOR_API_KEY.`,
      );
    }
    process.stdout.write(`${secret}\n`);
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
