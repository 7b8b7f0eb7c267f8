import { isDeepStrictEqual } from 'node:util';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { Environment, Permission } from '../../prisma/generated/client/enums.ts';
import { recordChange } from '../audit/record.ts';
import { databaseNow } from '../database/clock.ts';
import { newId } from '../ids.ts';
import type { Authenticator } from './authenticator.ts';
import { defaultGraceSeconds } from './grace-period.ts';
import { requireAtLeast, requireGrantable } from './grant.ts';
import {
  type AuthenticatedKey,
  type Author,
  defaultLimits,
  keyScopeRelations,
  type ScopedApiKey,
} from './key.ts';
import { newSecret, secretHint } from './key-secret.ts';
import { lockKeys } from './lock-keys.ts';
import { auditedKey, findApiKey, requireNotRevoked } from './managed-key.ts';
import { requireScopeOfChangedKey, requireScopeOfNewKey } from './key-scope-rules.ts';

/** A client's request to issue a new API key. */
export interface KeyRequest {
  name: string;
  permissions: readonly Permission[];
  companyIds?: readonly string[] | null | undefined;
  locationIds?: readonly string[] | null | undefined;
  hourlyLimit?: number | null | undefined;
  burstLimit?: number | null | undefined;
  expiresAt?: Date | null | undefined;
  /** Whether the new API key is an operator's key, which has access to every company and location. */
  unrestricted?: boolean | null | undefined;
}

/**
 * The new values of the fields of an API key. A field that is omitted or null stays unchanged. The field `expiresAt` is
 * an exception: null in this field removes the expiry time, so the API key never expires.
 */
export type KeyChange = {
  [Field in keyof Omit<KeyRequest, 'unrestricted'>]?: KeyRequest[Field] | null;
};

/**
 * An API key with its new secret. The gateway can show a secret only once, because the database contains only the hash
 * of the secret.
 */
interface IssuedKey {
  secret: string;
  apiKey: ScopedApiKey;
}

/** The functions that create, change and revoke API keys in one database. */
export type KeyWrites = ReturnType<typeof createKeyWrites>;

/**
 * Creates the functions that create, change and revoke API keys in the database. Each function that creates, changes or
 * revokes an API key checks the author's API key a second time, inside the transaction that writes the change (see the
 * function `lockKeys`). If the author's API key has become invalid since the request began, the function throws
 * `UNAUTHORIZED`. If the author's API key has lost the permission ADMIN, the function throws `FORBIDDEN`.
 *
 * @param services.hashSecret returns the hash that is stored instead of a secret
 */
export function createKeyWrites(services: {
  prisma: PrismaClient;
  authenticator: Pick<Authenticator, 'keysChanged'>;
  environment: Environment;
  hashSecret: (secret: string) => string;
}) {
  const { prisma, authenticator, environment, hashSecret } = services;

  /**
   * Creates a secret, and the values that the database stores for the secret: an id, the hash, and the last characters
   * as a hint.
   */
  function createSecret() {
    const secret = newSecret(environment);
    return { secret, stored: { id: newId(), hash: hashSecret(secret), hint: secretHint(secret) } };
  }

  return {
    /**
     * Issues an API key.
     *
     * @throws {ServiceError} `FORBIDDEN` when the new API key would have more access than the client's own API key
     *   (docs/contract-keys.md#keys). `NOT_FOUND` for a location outside the scope of the client's own API key
     */
    async issue(author: Author, request: KeyRequest): Promise<IssuedKey> {
      const unrestricted = request.unrestricted ?? false;
      const { secret, stored } = createSecret();

      const apiKey = await prisma.$transaction(async (transaction) => {
        const key = await lockKeys(transaction, author.key);
        const grant = {
          permissions: [...new Set(request.permissions)],
          companyIds: [...new Set(request.companyIds)],
          locationIds: [...new Set(request.locationIds)],
          ...limitsOf(key, request),
          expiresAt: request.expiresAt ?? key.expiresAt,
        };
        if (!key.unrestricted) requireScopeOfNewKey(unrestricted, grant);
        const { companyIds, locationIds, ...values } = grant;
        await requireGrantable(transaction, key, grant);
        const created = await transaction.apiKey.create({
          data: {
            ...values,
            id: newId(),
            name: request.name,
            environment,
            unrestricted,
            companies: { connect: companyIds.map((id) => ({ id })) },
            locations: { connect: locationIds.map((id) => ({ id })) },
            secrets: { create: stored },
          },
          include: keyScopeRelations,
        });
        await recordChange(transaction, author, {
          action: 'api_key.created',
          targetId: created.id,
          changes: auditedKey(created),
        });
        return created;
      });
      return { secret, apiKey };
    },

    /**
     * Changes an API key, with immediate effect in all gateway processes. If the new values equal the old values, the
     * function writes no audit record.
     *
     * @throws {ServiceError} `NOT_FOUND` when the client may not manage the API key. `CONFLICT` when the API key is
     *   already revoked. `FORBIDDEN` when the API key has more access than the client's own API key, before or after
     *   the change
     */
    async update(author: Author, id: string, change: KeyChange): Promise<ScopedApiKey> {
      const values = {
        name: change.name ?? undefined,
        permissions: change.permissions ? [...new Set(change.permissions)] : undefined,
        hourlyLimit: change.hourlyLimit ?? undefined,
        burstLimit: change.burstLimit ?? undefined,
        expiresAt: change.expiresAt,
      };
      const companyIds = change.companyIds ? [...new Set(change.companyIds)] : undefined;
      const locationIds = change.locationIds ? [...new Set(change.locationIds)] : undefined;

      const apiKey = await prisma.$transaction(async (transaction) => {
        const key = await lockKeys(transaction, author.key, id);
        const before = await findApiKey(transaction, key, id);
        requireNotRevoked(before);
        requireAtLeast(key, before);
        await requireGrantable(transaction, key, { ...values, companyIds, locationIds });
        requireScopeOfChangedKey(key, before, {
          companyIds: companyIds ?? before.companies.map((company) => company.id),
          locationIds: locationIds ?? before.locations.map((location) => location.id),
        });
        const after = await transaction.apiKey.update({
          where: { id },
          data: {
            ...values,
            companies: companyIds && { set: companyIds.map((companyId) => ({ id: companyId })) },
            locations: locationIds && { set: locationIds.map((locationId) => ({ id: locationId })) },
          },
          include: keyScopeRelations,
        });
        const changes = { before: auditedKey(before), after: auditedKey(after) };
        if (isDeepStrictEqual(changes.before, changes.after)) return before;
        await recordChange(transaction, author, { action: 'api_key.updated', targetId: id, changes });
        return transaction.apiKey.update({
          where: { id },
          data: { updatedAt: await databaseNow(transaction) },
          include: keyScopeRelations,
        });
      });
      await authenticator.keysChanged();
      return apiKey;
    },

    /**
     * Issues a new secret for an API key. The API key's earlier secrets stay valid until the grace period of the
     * rotation ends. If several requests rotate one API key at the same time, the rotations run one after the other.
     * After the grace periods have ended, only the secret that the last rotation created is valid.
     *
     * @throws {ServiceError} `NOT_FOUND` for an API key that the client may not manage. `CONFLICT` for a revoked API
     *   key. `FORBIDDEN` when the API key has more access than the client's own API key
     */
    async rotate(author: Author, id: string, graceSeconds: number = defaultGraceSeconds): Promise<IssuedKey> {
      const { secret, stored } = createSecret();
      const apiKey = await prisma.$transaction(async (transaction) => {
        const key = await lockKeys(transaction, author.key, id);
        const target = await findApiKey(transaction, key, id);
        requireNotRevoked(target);
        requireAtLeast(key, target);
        const now = await databaseNow(transaction);
        const graceEnd = new Date(now.getTime() + graceSeconds * 1000);
        await transaction.apiKeySecret.updateMany({
          where: { apiKeyId: id, OR: [{ expiresAt: null }, { expiresAt: { gt: graceEnd } }] },
          data: { expiresAt: graceEnd },
        });
        await transaction.apiKeySecret.create({ data: { ...stored, apiKeyId: id } });
        await recordChange(transaction, author, {
          action: 'api_key.rotated',
          targetId: id,
          changes: { graceEnd, hint: stored.hint },
        });
        return transaction.apiKey.update({
          where: { id },
          data: { updatedAt: now },
          include: keyScopeRelations,
        });
      });
      await authenticator.keysChanged();
      return { secret, apiKey };
    },

    /**
     * Revokes an API key with all its secrets, with immediate effect in all gateway processes. A client may also revoke
     * an API key that has more access than the client's own key (docs/contract-keys.md#keys). If the API key is already
     * revoked, the function changes nothing.
     *
     * @throws {ServiceError} `NOT_FOUND` for an API key that the client may not manage
     */
    async revoke(author: Author, id: string): Promise<ScopedApiKey> {
      const apiKey = await prisma.$transaction(async (transaction) => {
        const key = await lockKeys(transaction, author.key, id);
        const target = await findApiKey(transaction, key, id);
        if (target.revokedAt) return target;
        const now = await databaseNow(transaction);
        await recordChange(transaction, author, { action: 'api_key.revoked', targetId: id });
        return transaction.apiKey.update({
          where: { id },
          data: { revokedAt: now, updatedAt: now },
          include: keyScopeRelations,
        });
      });
      await authenticator.keysChanged();
      return apiKey;
    },
  };
}

/**
 * Returns the rate limits of a new API key. If the client omits a rate limit, the new API key gets the default rate
 * limit or the rate limit of the client's own API key, whichever is lower. If a client with an operator's key omits a
 * rate limit, the new API key gets the default rate limit.
 */
function limitsOf(key: AuthenticatedKey, { hourlyLimit, burstLimit }: KeyRequest) {
  const own = key.unrestricted ? defaultLimits : key;
  return {
    hourlyLimit: hourlyLimit ?? Math.min(defaultLimits.hourlyLimit, own.hourlyLimit),
    burstLimit: burstLimit ?? Math.min(defaultLimits.burstLimit, own.burstLimit),
  };
}
