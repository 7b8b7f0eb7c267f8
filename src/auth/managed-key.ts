import type { ApiKey, PrismaClient } from '../../prisma/generated/client/client.ts';
import type { Environment } from '../../prisma/generated/client/enums.ts';
import type { Transaction } from '../audit/record.ts';
import { prismaList } from '../database/prisma-list.ts';
import { ServiceError, shown } from '../errors/error-table.ts';
import { isId, newId } from '../ids.ts';
import type { PagedList } from '../pages.ts';
import type { Authenticator } from './authenticator.ts';
import { type AuthenticatedKey, type Author, keyTies, type TiedApiKey } from './key.ts';
import { newSecret, secretHint } from './key-secret.ts';
import { apiKeyScope } from './scope.ts';

/** Who manages a key, and what it takes. */
export interface KeyManagement extends Author {
  prisma: PrismaClient;
  authenticator: Pick<Authenticator, 'keysChanged'>;
  environment: Environment;
  hashSecret: (secret: string) => string;
}

/** A key with a new secret, which is shown this once and stored nowhere. */
export interface IssuedKey {
  secret: string;
  apiKey: TiedApiKey;
}

/** The keys that a key administers. */
export const listApiKeys = (prisma: PrismaClient, key: AuthenticatedKey): PagedList<ApiKey> =>
  prismaList(prisma.apiKey, apiKeyScope(key));

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

/** A new secret, and what is stored of it. */
export function createSecret({ environment, hashSecret }: KeyManagement) {
  const secret = newSecret(environment);
  return { secret, stored: { id: newId(), hash: hashSecret(secret), hint: secretHint(secret) } };
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
