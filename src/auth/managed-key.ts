import type { Transaction } from '../audit/record.ts';
import { ServiceError, shown } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import { type AuthenticatedKey, keyTies, type TiedApiKey } from './key.ts';
import { apiKeyScope } from './scope.ts';

/**
 * The key of an id that a client sent.
 *
 * @throws {ServiceError} `NOT_FOUND` for an unknown key and for one that the client's key does not administer
 */
export async function findApiKey(
  prisma: Pick<Transaction, 'apiKey'>,
  key: AuthenticatedKey,
  id: string,
): Promise<TiedApiKey> {
  const found = isId(id)
    ? await prisma.apiKey.findFirst({ where: { AND: [{ id }, apiKeyScope(key)] }, include: keyTies })
    : null;
  if (!found) throw new ServiceError('NOT_FOUND', 'API key not found', { field: 'id', value: shown(id) });
  return found;
}

/**
 * The same, held until the transaction ends: changes of one key follow each other.
 *
 * @throws {ServiceError} `NOT_FOUND` as above
 */
export async function lockApiKey(
  transaction: Transaction,
  key: AuthenticatedKey,
  id: string,
): Promise<TiedApiKey> {
  if (isId(id)) await transaction.$queryRaw`SELECT id FROM "ApiKey" WHERE id = ${id} FOR NO KEY UPDATE`;
  return findApiKey(transaction, key, id);
}

/**
 * Lets a key pass that is not revoked: a revoked one stays as it is.
 *
 * @throws {ServiceError} `CONFLICT`
 */
export function requireNotRevoked({ id, revokedAt }: TiedApiKey): void {
  if (revokedAt) throw new ServiceError('CONFLICT', 'API key is revoked', { field: 'id', value: id });
}

/** What the audit log says of a key: nothing of its secrets. */
export function auditedKey(key: TiedApiKey) {
  const { name, permissions, unrestricted, hourlyLimit, burstLimit, expiresAt } = key;
  return {
    name,
    permissions,
    unrestricted,
    companyIds: key.companies.map(({ id }) => id),
    locationIds: key.locations.map(({ id }) => id),
    hourlyLimit,
    burstLimit,
    expiresAt,
  };
}
