import { isDeepStrictEqual } from 'node:util';
import type { Permission } from '../../prisma/generated/client/enums.ts';
import { recordChange } from '../audit/record.ts';
import { databaseNow } from '../database/clock.ts';
import { invalidField, ServiceError } from '../errors/error-table.ts';
import { requireAtLeast, requireGrantable } from './grant.ts';
import { type AuthenticatedKey, keyTies, type TiedApiKey } from './key.ts';
import { auditedKey, type KeyManagement, lockApiKey, requireNotRevoked } from './managed-key.ts';

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

/**
 * Changes a key, at once on every process. A change to what the key is already leaves no record.
 *
 * @throws {ServiceError} `NOT_FOUND` for a key that the changing one does not administer, `FORBIDDEN` for one that
 *   has more and for what the changing key lacks, `CONFLICT` for a revoked one
 */
export async function updateKey(
  management: KeyManagement,
  id: string,
  change: KeyChange,
): Promise<TiedApiKey> {
  const { key, prisma, authenticator } = management;
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
    requireTies(key, before, {
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
    await recordChange(transaction, management, { action: 'api_key.updated', targetId: id, changes });
    return transaction.apiKey.update({
      where: { id },
      data: { updatedAt: await databaseNow(transaction) },
      include: keyTies,
    });
  });
  await authenticator.keysChanged();
  return apiKey;
}

/**
 * Lets a change pass after which the key still has ties if it must: an operator's key never gets any, and one
 * without ties is out of the reach of its company.
 */
function requireTies(
  key: AuthenticatedKey,
  { unrestricted }: TiedApiKey,
  { companyIds, locationIds }: { companyIds: readonly string[]; locationIds: readonly string[] },
): void {
  const tied = companyIds.length + locationIds.length > 0;
  if (unrestricted && tied) {
    const field = companyIds.length > 0 ? 'companyIds' : 'locationIds';
    const message = "An operator's key reaches everything and cannot be tied; issue another key instead";
    throw invalidField(field, message, companyIds.length > 0 ? companyIds : locationIds);
  }
  if (!key.unrestricted && !tied) {
    const message = 'API key must leave the key tied to a company or a location';
    throw new ServiceError('FORBIDDEN', message, { field: 'companyIds', value: companyIds });
  }
}
