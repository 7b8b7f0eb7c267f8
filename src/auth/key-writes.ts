import { isDeepStrictEqual } from 'node:util';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { Environment, Permission } from '../../prisma/generated/client/enums.ts';
import { recordChange } from '../audit/record.ts';
import { databaseNow } from '../database/clock.ts';
import { newId } from '../ids.ts';
import type { Authenticator } from './authenticator.ts';
import { defaultGraceSeconds } from './grace-period.ts';
import { requireAtLeast, requireGrantable } from './grant.ts';
import { type AuthenticatedKey, type Author, defaultLimits, keyTies, type TiedApiKey } from './key.ts';
import { newSecret, secretHint } from './key-secret.ts';
import { auditedKey, lockApiKey, requireNotRevoked } from './managed-key.ts';
import { requireTiesOfChangedKey, requireTiesOfNewKey } from './ties.ts';

/** A key to issue, as a client asks for it. */
export interface KeyRequest {
  name: string;
  permissions: readonly Permission[];
  companyIds?: readonly string[] | null | undefined;
  locationIds?: readonly string[] | null | undefined;
  hourlyLimit?: number | null | undefined;
  burstLimit?: number | null | undefined;
  expiresAt?: Date | null | undefined;
  /** Asks for an operator's key, which reaches everything. */
  unrestricted?: boolean | null | undefined;
}

/** What to change of a key; what is left out or null stays as it is, but for `expiresAt`. */
export interface KeyChange {
  name?: string | null | undefined;
  permissions?: readonly Permission[] | null | undefined;
  companyIds?: readonly string[] | null | undefined;
  locationIds?: readonly string[] | null | undefined;
  hourlyLimit?: number | null | undefined;
  burstLimit?: number | null | undefined;
  /** null takes the end away. */
  expiresAt?: Date | null | undefined;
}

/** A key with a new secret, which is shown this once and stored nowhere. */
interface IssuedKey {
  secret: string;
  apiKey: TiedApiKey;
}

/** The changes of keys in one database. */
export type KeyWrites = ReturnType<typeof createKeyWrites>;

/**
 * Prepares the changes of keys.
 *
 * @param services.hashSecret hashes a new secret for the database
 */
export function createKeyWrites(services: {
  prisma: PrismaClient;
  authenticator: Pick<Authenticator, 'keysChanged'>;
  environment: Environment;
  hashSecret: (secret: string) => string;
}) {
  const { prisma, authenticator, environment, hashSecret } = services;

  /** A new secret, and what is stored of it. */
  function createSecret() {
    const secret = newSecret(environment);
    return { secret, stored: { id: newId(), hash: hashSecret(secret), hint: secretHint(secret) } };
  }

  return {
    /**
     * Issues a key.
     *
     * @throws {ServiceError} `FORBIDDEN` for what the issuing key lacks (decisions, "keys"), `NOT_FOUND` for
     *   locations out of its reach
     */
    async issue(author: Author, request: KeyRequest): Promise<IssuedKey> {
      const { key } = author;
      const grant = {
        permissions: [...new Set(request.permissions)],
        companyIds: [...new Set(request.companyIds)],
        locationIds: [...new Set(request.locationIds)],
        ...limitsOf(key, request),
        expiresAt: request.expiresAt ?? (key.unrestricted ? null : key.expiresAt),
      };
      const unrestricted = request.unrestricted ?? false;
      if (!key.unrestricted) requireTiesOfNewKey(unrestricted, grant);
      const { companyIds, locationIds, ...values } = grant;
      const { secret, stored } = createSecret();

      const apiKey = await prisma.$transaction(async (transaction) => {
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
          include: keyTies,
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
     * Changes a key, at once on every process. A change to what the key is already leaves no record.
     *
     * @throws {ServiceError} `NOT_FOUND` for a key that the changing one does not administer, `FORBIDDEN` for one that
     *   has more and for what the changing key lacks, `CONFLICT` for a revoked one
     */
    async update(author: Author, id: string, change: KeyChange): Promise<TiedApiKey> {
      const { key } = author;
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
        const before = await lockApiKey(transaction, key, id);
        requireNotRevoked(before);
        requireAtLeast(key, before);
        await requireGrantable(transaction, key, { ...values, companyIds, locationIds });
        requireTiesOfChangedKey(key, before, {
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
          include: keyTies,
        });
        const changes = { before: auditedKey(before), after: auditedKey(after) };
        if (isDeepStrictEqual(changes.before, changes.after)) return before;
        await recordChange(transaction, author, { action: 'api_key.updated', targetId: id, changes });
        return transaction.apiKey.update({
          where: { id },
          data: { updatedAt: await databaseNow(transaction) },
          include: keyTies,
        });
      });
      await authenticator.keysChanged();
      return apiKey;
    },

    /**
     * Issues a new secret for a key; the older ones end after the grace period. Rotations at once follow each other:
     * the secret of the last one is the one that stays.
     *
     * @throws {ServiceError} `NOT_FOUND` for a key that the rotating one does not administer, `FORBIDDEN` for one that
     *   has more, `CONFLICT` for a revoked one
     */
    async rotate(author: Author, id: string, graceSeconds: number = defaultGraceSeconds): Promise<IssuedKey> {
      const { key } = author;
      const { secret, stored } = createSecret();
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
        await recordChange(transaction, author, {
          action: 'api_key.rotated',
          targetId: id,
          changes: { graceEnd, hint: stored.hint },
        });
        return transaction.apiKey.update({ where: { id }, data: { updatedAt: now }, include: keyTies });
      });
      await authenticator.keysChanged();
      return { secret, apiKey };
    },

    /**
     * Ends a key with all its secrets, at once on every process. Whoever administers a part of what the key reaches
     * may do so, whatever else the key has (decisions, "keys"). To revoke a revoked key changes nothing.
     *
     * @throws {ServiceError} `NOT_FOUND` for a key that the revoking one does not administer
     */
    async revoke(author: Author, id: string): Promise<TiedApiKey> {
      const { key } = author;
      const apiKey = await prisma.$transaction(async (transaction) => {
        const target = await lockApiKey(transaction, key, id);
        if (target.revokedAt) return target;
        const now = await databaseNow(transaction);
        await recordChange(transaction, author, { action: 'api_key.revoked', targetId: id });
        return transaction.apiKey.update({
          where: { id },
          data: { revokedAt: now, updatedAt: now },
          include: keyTies,
        });
      });
      await authenticator.keysChanged();
      return apiKey;
    },
  };
}

/** The limits that were asked for; otherwise the default ones, or those of the issuing key when they are lower. */
function limitsOf(key: AuthenticatedKey, { hourlyLimit, burstLimit }: KeyRequest) {
  const own = key.unrestricted ? defaultLimits : key;
  return {
    hourlyLimit: hourlyLimit ?? Math.min(defaultLimits.hourlyLimit, own.hourlyLimit),
    burstLimit: burstLimit ?? Math.min(defaultLimits.burstLimit, own.burstLimit),
  };
}
