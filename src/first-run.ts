import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { seedDemoData } from '../prisma/seed.ts';
import { hashSecret, newSecret } from './auth/key-secret.ts';
import { createOperatorKey } from './auth/operator-key.ts';
import type { Config } from './config.ts';
import type { Database } from './database/types.ts';

/** The file in DATA_DIR that has the keys of a first start whose output is no terminal. */
const keyFileName = 'first-keys.txt';

/**
 * Tells whoever starts the gateway how to use it. On the first start in development it makes an operator's key, and
 * on the embedded database the demo data with a key. A terminal shows them this once; otherwise they are written to
 * a file, since the output is a log. In staging and production it makes nothing and says how to get the first key.
 *
 * @param options.isTerminal whether a person reads the output of the process
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
  // Made before the keys: when it cannot be written, no key is made that nobody knows.
  const folder = isFirst && !isTerminal ? await keyFolder(config.dataDir) : undefined;
  const keys = isFirst ? await makeFirstKeys(database, config, { url, missing }) : [];
  if (isTerminal) {
    const addresses = [`REST       ${url}/api`, `GraphiQL   ${url}/graphql`, `Reference  ${url}/reference`];
    process.stdout.write(`\n${[...addresses, ...keys].join('\n')}\n\n`);
  }
  if (folder !== undefined) {
    const file = join(folder, keyFileName);
    await rm(file, { force: true }); // one of a former database may be readable by others
    await writeFile(file, `${keys.join('\n').trim()}\n`, { mode: 0o600 });
    log.info({ file }, 'the keys of the first start are in a file that only its owner can read');
  }
}

/** What a first start in development makes. */
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

/** The folder for the file of keys: an embedded database in memory has none of its own. */
async function keyFolder(dataDir: string): Promise<string> {
  if (dataDir.includes('://')) return mkdtemp(join(tmpdir(), 'parking-gateway-'));
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  return dataDir;
}

async function warnWithoutKeys({ prisma }: Database, { environment }: Config, log: Logger): Promise<void> {
  if ((await prisma.apiKey.count({ where: { environment, revokedAt: null } })) > 0) return;
  log.warn(
    'there is no key yet, so that nobody can use the gateway: run `npm run keys:bootstrap` (node dist/bootstrap-key.js), or set OPERATOR_API_KEY to a secret of 32 characters or more and start again',
  );
}

/** Makes what is missing, and returns its keys in lines for a person. */
async function makeFirstKeys(
  { prisma }: Database,
  { environment, keyPepper: pepper }: Config,
  { url, missing }: { url: string; missing: Missing },
): Promise<string[]> {
  const lines: string[] = [];
  if (missing.operatorKey) {
    const secret = newSecret(environment);
    await createOperatorKey(prisma, { secret, environment, pepper });
    lines.push('', 'Keys, shown only now:', `  operator  ${secret}`);
  }
  if (missing.demoData) {
    const { demoSecret, locationId } = await seedDemoData(prisma, {
      environment,
      hashSecret: (secret) => hashSecret(secret, pepper),
    });
    const query = `{ plateAccess(locationId: "${locationId}", plate: { plateType: "DXB", plateCode: "A", plateNumber: "7" }) { allowed reason entry { referenceId } } }`;
    lines.push(
      `  demo      ${demoSecret}`,
      '',
      'A whitelist over REST:',
      `  curl -s '${url}/api/locations/${locationId}/whitelist?referenceId=unit-0101' -H 'X-API-Key: ${demoSecret}'`,
      '',
      "A gate's question over GraphQL:",
      `  curl -s ${url}/graphql -H 'X-API-Key: ${demoSecret}' -H 'Content-Type: application/json' -d '${JSON.stringify({ query })}'`,
      '',
      'In GraphiQL, type the demo key into the field at the top: its examples then hold ids that the key reaches.',
    );
  }
  return lines;
}
