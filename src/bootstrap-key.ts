// `npm run keys:bootstrap` creates the first API key of an environment (an operator's key), and prints the secret of
// the key. The script prints only the secret to the standard output, so that another program can put the secret into a
// secret store.
import { pino } from 'pino';
import { createFirstOperatorKey } from './auth/operator-key.ts';
import { newSecret } from './auth/key-secret.ts';
import { loadConfig } from './config.ts';
import { withMigratedDatabase } from './migrated-database.ts';

const standardError = 2;

try {
  const config = loadConfig(process.env);
  const { environment, keyPepper: pepper } = config;
  const log = pino({ level: config.logLevel }, pino.destination(standardError));
  await withMigratedDatabase(config, log, async ({ prisma }) => {
    const secret = newSecret(environment);
    if (!(await createFirstOperatorKey(prisma, { secret, environment, pepper }, 'keys:bootstrap'))) {
      throw new Error(
        `There are already API keys for ${environment}, so the script created no API key. To create more API keys, run pms keys create with an existing key. If all keys are lost, start the gateway with OPERATOR_API_KEY.`,
      );
    }
    process.stdout.write(`${secret}\n`);
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
