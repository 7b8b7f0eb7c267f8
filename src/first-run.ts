import { seedDemoData } from '../prisma/seed.ts';
import { hashSecret, newSecret } from './api-key-format.ts';
import type { Config } from './config.ts';
import type { Database } from './db.ts';
import { ensureOperatorKey } from './operator-key.ts';

/**
 * Tells a developer where to go. On the first start in development it also makes an operator's key, and on the
 * embedded database the demo data with a key; both are shown this once. Staging and production print no secret.
 */
export async function welcome({ prisma, kind }: Database, config: Config, url: string): Promise<void> {
  if (config.environment !== 'development') return;
  const lines = [`REST      ${url}/api`, `GraphiQL  ${url}/graphql`];
  const { environment, keyPepper: pepper, operatorApiKey } = config;

  if (!operatorApiKey && (await prisma.apiKey.count()) === 0) {
    const secret = newSecret(environment);
    await ensureOperatorKey(prisma, { secret, environment, pepper });
    lines.push('', 'Keys, shown only now:', `  operator  ${secret}`);
  }
  if (kind === 'embedded' && (await prisma.company.count()) === 0) {
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
      `In GraphiQL, send {"X-API-Key": "${demoSecret}"} as headers with:`,
      `  ${query}`,
    );
  }
  process.stdout.write(`\n${lines.join('\n')}\n\n`);
}
