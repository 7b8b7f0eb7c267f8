import type { Transaction } from '../database/types.ts';
import { ServiceError, shown } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import { type AuthenticatedKey, keyScopeRelations, type ScopedApiKey } from './key.ts';
import { apiKeyScope } from './scope.ts';

/**
 * Finds an API key by the id that a client sent.
 *
 * @throws {ServiceError} `NOT_FOUND` if the API key is unknown, or if the client's own API key may not manage it
 */
export async function findApiKey(
  prisma: Pick<Transaction, 'apiKey'>,
  key: AuthenticatedKey,
  id: string,
): Promise<ScopedApiKey> {
  const found = isId(id)
    ? await prisma.apiKey.findFirst({
        where: { AND: [{ id }, apiKeyScope(key)] },
        include: keyScopeRelations,
      })
    : null;
  if (!found) throw new ServiceError('NOT_FOUND', 'API key not found', { field: 'id', value: shown(id) });
  return found;
}

/**
 * Checks that an API key is not revoked. A client cannot change a revoked API key.
 *
 * @throws {ServiceError} `CONFLICT`
 */
export function requireNotRevoked({ id, revokedAt }: ScopedApiKey): void {
  if (revokedAt) throw new ServiceError('CONFLICT', 'API key is revoked', { field: 'id', value: id });
}

/** Returns the fields of an API key for the audit log. The audit log never contains secrets. */
export function auditedKey(key: ScopedApiKey) {
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
