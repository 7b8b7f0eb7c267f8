import { mkdir, mkdtemp, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { seedDemoData } from '../prisma/seed.ts';
import { hashSecret, newSecret } from './auth/key-secret.ts';
import { createFirstOperatorKey } from './auth/operator-key.ts';
import type { Config } from './config.ts';
import type { Database } from './database/types.ts';
import { createWebhookSecretBox } from './webhooks/secret-box.ts';

/**
 * The name of the file in DATA_DIR for new API keys. The gateway writes this file at its first start if its process has
 * no terminal.
 */
const keyFileName = 'first-keys.txt';

/**
 * Shows the operator how to use the gateway. In development, the first start of the gateway creates an operator's key,
 * unless OPERATOR_API_KEY is set. With the embedded database, the first start also creates demo data with an API key.
 * The gateway shows the new API keys only once, on the terminal. If the output goes to a log instead of a terminal, the
 * gateway writes the API keys to a file. In staging and production, no API key is created, and the log says how to
 * create the first API key.
 *
 * @param options.isTerminal whether the output of the process goes to a terminal, where a person reads it
 */
export async function welcome(
  database: Database,
  config: Config,
  options: { url: string; log: Logger; isTerminal: boolean },
): Promise<void> {
  const { url, log, isTerminal } = options;
  if (config.environment !== 'development') return warnWithoutKeys(database, config, log);
  const missing = await whatIsMissing(database, config);
  const isFirst = missing.operatorKey || missing.demoData;
  // The gateway creates the folder for the file of API keys before it creates the API keys. If the gateway cannot
  // create the folder, no API key is created.
  const file = isFirst && !isTerminal ? join(await keyFolder(config.dataDir), keyFileName) : undefined;
  const show = (lines: readonly string[], flag: 'w' | 'a') =>
    file ? writeKeys(file, lines, flag) : process.stdout.write(`${lines.join('\n')}\n`);

  if (isTerminal) {
    const addresses = [`REST       ${url}/api`, `GraphiQL   ${url}/graphql`, `Reference  ${url}/reference`];
    process.stdout.write(`\n${addresses.join('\n')}\n\n`);
  }
  // The gateway shows the operator's key before it creates the demo data. The operator therefore has the operator's key
  // even if the process ends before the demo data is complete. If the process ended before it created the demo data,
  // the next start of the gateway creates the API key of the demo data.
  const operatorLines = missing.operatorKey ? await makeOperatorKey(database, config) : [];
  if (operatorLines.length > 0) await show(operatorLines, 'w');
  if (missing.demoData) await show(await makeDemoData(database, config, url), 'a');
  if (file && (operatorLines.length > 0 || missing.demoData)) {
    log.info({ file }, 'wrote the keys of the first start to a file that only its owner can read');
  }
}

/** Whether this start of the gateway must create an operator's key, and whether it must create the demo data. */
interface Missing {
  operatorKey: boolean;
  demoData: boolean;
}

async function whatIsMissing({ prisma, kind }: Database, { operatorApiKey }: Config): Promise<Missing> {
  return {
    operatorKey: !operatorApiKey && (await prisma.apiKey.count()) === 0,
    demoData: kind === 'embedded' && (await prisma.company.count()) === 0,
  };
}

/**
 * Returns the folder for the file with new API keys. If the embedded database is in memory, the folder is a new
 * temporary folder.
 */
async function keyFolder(dataDir: string): Promise<string> {
  if (dataDir.includes('://')) return mkdtemp(join(tmpdir(), 'parking-gateway-'));
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  return dataDir;
}

async function warnWithoutKeys({ prisma }: Database, { environment }: Config, log: Logger): Promise<void> {
  if ((await prisma.apiKey.count({ where: { environment, revokedAt: null } })) > 0) return;
  log.warn(
    'No client can use the gateway yet, because there is no API key. Run `npm run keys:bootstrap` (node dist/bootstrap-key.js), or set OPERATOR_API_KEY to a secret of at least 32 characters and restart',
  );
}

/**
 * Writes lines about new API keys to the file of API keys, which only its owner can read.
 *
 * @param flag `w` to replace the file if it already exists (for example from an earlier database), or `a` to add the
 *   lines to the file
 */
async function writeKeys(path: string, lines: readonly string[], flag: 'w' | 'a'): Promise<void> {
  const file = await open(path, flag, 0o600);
  try {
    // If an earlier start of the gateway created the file, its permissions may let other users read it.
    await file.chmod(0o600);
    await file.writeFile(`${lines.join('\n')}\n`);
  } finally {
    await file.close();
  }
}

/**
 * Creates an operator's key if the deployment environment (such as `development`) has no API keys, or only revoked API
 * keys. Returns the lines of text that show the operator's key. Only one process creates an operator's key, even if
 * several processes start at the same time.
 */
async function makeOperatorKey(
  { prisma }: Database,
  { environment, keyPepper: pepper }: Config,
): Promise<string[]> {
  const secret = newSecret(environment);
  const isCreated = await createFirstOperatorKey(prisma, { secret, environment, pepper }, 'first start');
  return isCreated ? ['Keys, shown only now:', `  operator  ${secret}  has access to everything`] : [];
}

/** Creates the demo data, and returns the lines of text that show its API key and example requests. */
async function makeDemoData(
  { prisma }: Database,
  { environment, keyPepper: pepper }: Config,
  url: string,
): Promise<string[]> {
  const { demoSecret, locationId } = await seedDemoData(prisma, {
    environment,
    hashSecret: (secret) => hashSecret(secret, pepper),
    webhookSecrets: createWebhookSecretBox(pepper),
  });
  const query = `{ plateAccess(locationId: "${locationId}", plate: { plateType: "DXB", plateCode: "A", plateNumber: "7" }) { allowed reason entry { referenceId } } }`;
  return [
    `  demo      ${demoSecret}  has access to the demo company, but does not manage keys`,
    '',
    'Read a whitelist over REST:',
    `  curl -s -w '\\n' '${url}/api/locations/${locationId}/whitelist?referenceId=unit-0101' -H 'X-API-Key: ${demoSecret}'`,
    '',
    'Ask over GraphQL whether a vehicle may enter:',
    `  curl -s -w '\\n' ${url}/graphql -H 'X-API-Key: ${demoSecret}' -H 'Content-Type: application/json' -d '${JSON.stringify({ query })}'`,
    '',
    'In GraphiQL, type the demo key into the field at the top. The examples then contain ids that the key can use.',
  ];
}
