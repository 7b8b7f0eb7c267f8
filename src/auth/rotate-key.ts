import { recordChange } from '../audit/record.ts';
import { databaseNow } from '../database/clock.ts';
import { defaultGraceSeconds } from './grace-period.ts';
import { requireAtLeast } from './grant.ts';
import { keyTies } from './key.ts';
import {
  createSecret,
  type IssuedKey,
  type KeyManagement,
  lockApiKey,
  requireNotRevoked,
} from './managed-key.ts';

/**
 * Issues a new secret for a key; the older ones end after the grace period. Rotations at once follow each other:
 * the secret of the last one is the one that stays.
 *
 * @throws {ServiceError} `NOT_FOUND` for a key that the rotating one does not administer, `FORBIDDEN` for one that
 *   has more, `CONFLICT` for a revoked one
 */
export async function rotateKey(
  management: KeyManagement,
  id: string,
  graceSeconds: number = defaultGraceSeconds,
): Promise<IssuedKey> {
  const { key, prisma, authenticator } = management;
  const { secret, stored } = createSecret(management);
  const apiKey = await prisma.$transaction(async (transaction) => {
    const target = await lockApiKey(transaction, key, id);
    requireNotRevoked(target);
    requireAtLeast(key, target);
    const now = await databaseNow(transaction);
    const graceEnd = new Date(now.getTime() + graceSeconds * 1000);
    await transaction.apiKeySecret.updateMany({
      where: { apiKeyId: id, OR: [{ expiresAt: null }, { expiresAt: { gt: graceEnd } }] },
      data: { expiresAt: graceEnd },
    });
    await transaction.apiKeySecret.create({ data: { ...stored, apiKeyId: id } });
    await recordChange(transaction, management, {
      action: 'api_key.rotated',
      targetId: id,
      changes: { graceEnd, hint: stored.hint },
    });
    return transaction.apiKey.update({ where: { id }, data: { updatedAt: now }, include: keyTies });
  });
  await authenticator.keysChanged();
  return { secret, apiKey };
}
