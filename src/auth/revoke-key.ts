import { recordChange } from '../audit/record.ts';
import { databaseNow } from '../database/clock.ts';
import { keyTies, type TiedApiKey } from './key.ts';
import { type KeyManagement, lockApiKey } from './managed-key.ts';

/**
 * Ends a key with all its secrets, at once on every process. Whoever administers a part of what the key reaches
 * may do so, whatever else the key has (decisions, "keys"). To revoke a revoked key changes nothing.
 *
 * @throws {ServiceError} `NOT_FOUND` for a key that the revoking one does not administer
 */
export async function revokeKey(management: KeyManagement, id: string): Promise<TiedApiKey> {
  const { key, prisma, authenticator } = management;
  const apiKey = await prisma.$transaction(async (transaction) => {
    const target = await lockApiKey(transaction, key, id);
    if (target.revokedAt) return target;
    const now = await databaseNow(transaction);
    await recordChange(transaction, management, { action: 'api_key.revoked', targetId: id });
    return transaction.apiKey.update({
      where: { id },
      data: { revokedAt: now, updatedAt: now },
      include: keyTies,
    });
  });
  await authenticator.keysChanged();
  return apiKey;
}
