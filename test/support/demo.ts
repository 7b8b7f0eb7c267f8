import { seedDemoData } from '../../prisma/seed.ts';
import { hashSecret } from '../../src/auth/key-secret.ts';
import { createWebhookSecretBox } from '../../src/webhooks/secret-box.ts';
import type { TestGateway } from './harness.ts';

/** Adds the demo data of a new gateway to the database of a test gateway, and returns the demo API key. */
export async function seedDemo({ config, database }: TestGateway): Promise<string> {
  const { demoSecret } = await seedDemoData(database.prisma, {
    environment: config.environment,
    hashSecret: (secret) => hashSecret(secret, config.keyPepper),
    webhookSecrets: createWebhookSecretBox(config.keyPepper),
  });
  return demoSecret;
}
