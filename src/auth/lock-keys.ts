import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import type { Transaction } from '../database/types.ts';
import { keyInvalid } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import { type AuthenticatedKey, authenticatedKey, keyScopeRelations, requirePermission } from './key.ts';

/**
 * Locks API keys in the order of their ids, so that two administrators who change each other's keys cannot cause a
 * deadlock. The row locks are `FOR NO KEY UPDATE`, so that other transactions can still add rows that refer to the
 * locked API keys.
 */
const lockStatement = namedStatement(
  'api-keys-lock',
  'SELECT id FROM "ApiKey" WHERE id = ANY($ids::text[]) ORDER BY id FOR NO KEY UPDATE',
);

/** Locks the rows of API keys until the transaction ends. */
export async function lockKeyRows(transaction: Transaction, ids: readonly string[]): Promise<void> {
  await queryInTransaction(transaction, lockStatement, { ids });
}

/**
 * Finds the secret of an API key by the id of the secret, if both the secret and the API key are still valid. The
 * secret of the API key may have expired while the transaction waited for locks. The SQL statement therefore compares
 * the expiry of the secret with the current time (`clock_timestamp()`), and not with the time at which the transaction
 * began (`now()`).
 */
const validSecret = namedStatement(
  'api-key-secret-valid',
  `
    SELECT s.id FROM "ApiKeySecret" s JOIN "ApiKey" k ON k.id = s."apiKeyId"
    WHERE s.id = $secretId AND k."revokedAt" IS NULL
      AND (s."expiresAt" IS NULL OR s."expiresAt" > clock_timestamp())
      AND (k."expiresAt" IS NULL OR k."expiresAt" > clock_timestamp())`,
);

/**
 * Locks the API key of an administrator, and the API key that the administrator changes, until the transaction ends.
 * After `lockKeys` has locked the rows of the API keys, it checks the administrator's own API key a second time.
 * Another administrator may have changed this API key since the request began. Without this second check, an
 * administrator's key that has just lost a permission could grant itself this permission again.
 *
 * @param administrator the API key of the request, as it was when the request began
 * @param targetId the id of the API key that the administrator changes; omitted for a new API key
 * @returns the administrator's key with its current permissions, scope and limits
 * @throws {ServiceError} `UNAUTHORIZED` when the secret of the request is no longer valid. `FORBIDDEN` when the
 *   administrator's key has lost the permission ADMIN
 */
export async function lockKeys(
  transaction: Transaction,
  { id, secretId }: AuthenticatedKey,
  targetId?: string,
): Promise<AuthenticatedKey> {
  const ids = targetId !== undefined && isId(targetId) ? [id, targetId] : [id];
  await lockKeyRows(transaction, ids);
  const [secret] = await queryInTransaction(transaction, validSecret, { secretId });
  if (!secret) throw keyInvalid;
  const row = await transaction.apiKey.findUniqueOrThrow({ where: { id }, include: keyScopeRelations });
  const administrator = authenticatedKey(row, secretId);
  requirePermission(administrator, 'ADMIN');
  return administrator;
}
