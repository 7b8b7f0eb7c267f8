import { Permission, type Environment } from '../prisma/generated/client/enums.ts';
import type { PrismaClient } from '../prisma/generated/client/client.ts';
import { hashSecret, secretHint } from './api-key-format.ts';
import { isUniqueViolation } from './db-errors.ts';
import { newId } from './ids.ts';

/**
 * Makes sure that an operator's key with a secret exists: every permission, everything in reach.
 * Several processes may do so at once. A key that was revoked stays revoked.
 */
export async function ensureOperatorKey(
  prisma: PrismaClient,
  options: { secret: string; environment: Environment; pepper: string },
): Promise<void> {
  const hash = hashSecret(options.secret, options.pepper);
  if (await prisma.apiKeySecret.findUnique({ where: { hash } })) return;
  await prisma.apiKey
    .create({
      data: {
        id: newId(),
        name: 'Operator',
        environment: options.environment,
        permissions: Object.values(Permission),
        unrestricted: true,
        secrets: { create: { id: newId(), hash, hint: secretHint(options.secret) } },
      },
    })
    .catch((error: unknown) => {
      if (!isUniqueViolation(error, 'api_key_secret_hash_unique')) throw error;
    });
}
