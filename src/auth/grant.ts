import type { Permission } from '../../prisma/generated/client/enums.ts';
import type { Transaction } from '../database/types.ts';
import { companyForbidden, ServiceError, shown } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import { requireLocations } from '../location-access/require-locations.ts';
import type { AuthenticatedKey, ScopedApiKey } from './key.ts';

// An administrator's key cannot give another API key more permissions, a larger scope, higher limits or a longer
// lifetime than the administrator's key has (docs/contract-keys.md#keys). An operator's key is an exception: it may
// give another API key higher rate limits than its own. Only because of this exception can a client create an API key
// with a higher rate limit than all existing API keys.

/**
 * The permissions, scope, limits and expiry that one API key gives to another API key. If a property of the grant is
 * omitted, the grant gives no access of this kind: for example, a grant without `permissions` gives no permissions.
 */
export interface Grant {
  permissions?: readonly Permission[] | undefined;
  companyIds?: readonly string[] | undefined;
  locationIds?: readonly string[] | undefined;
  /** The hourly rate limit that the grant gives to an API key, in points. */
  hourlyLimit?: number | undefined;
  /** The burst rate limit that the grant gives to an API key, in points. */
  burstLimit?: number | undefined;
  /** The expiry time that the grant gives to an API key; null if this API key never expires. */
  expiresAt?: Date | null | undefined;
}

/**
 * Whether an API key with the expiry time `end` stays valid for longer than an API key with the expiry time `other`.
 * The expiry time null means that an API key never expires.
 */
const endsLater = (end: Date | null, other: Date | null) => other !== null && (end === null || end > other);

const forbidden = (field: string, value: unknown, message: string) =>
  new ServiceError('FORBIDDEN', message, { field, value: shown(value) });

/**
 * Checks that `grant` gives another API key only access that `key` itself has. Also checks that the companies and
 * locations in `grant` exist.
 *
 * @throws {ServiceError} `FORBIDDEN` with the name of the field that would give an API key too much access. `NOT_FOUND`
 *   when `grant` contains a location that is unknown or outside the scope of `key`
 */
export async function requireGrantable(
  transaction: Transaction,
  key: AuthenticatedKey,
  grant: Grant,
): Promise<void> {
  requireOwn(key, grant);
  await requireCompanies(transaction, key, grant.companyIds ?? []);
  await requireLocations(transaction, key, grant.locationIds ?? []);
}

/**
 * Checks, without reading the database, whether `key` may give the permissions, expiry and limits in `grant` to another
 * API key.
 */
function requireOwn(key: AuthenticatedKey, grant: Grant): void {
  const { permissions = [], expiresAt } = grant;
  const lacking = permissions.find((permission) => !key.permissions.has(permission));
  if (lacking) {
    const message = `API key lacks the permission ${lacking} and cannot grant it`;
    throw forbidden('permissions', lacking, message);
  }
  if (expiresAt !== undefined && endsLater(expiresAt, key.expiresAt)) {
    const message = `API key ends at ${key.expiresAt?.toISOString()} and cannot grant a later end`;
    throw forbidden('expiresAt', expiresAt, message);
  }
  if (!key.unrestricted) requireOwnLimits(key, grant);
}

function requireOwnLimits(key: AuthenticatedKey, { hourlyLimit = 0, burstLimit = 0 }: Grant): void {
  if (hourlyLimit > key.hourlyLimit) {
    const message = `API key may make ${key.hourlyLimit} requests in an hour and cannot grant more`;
    throw forbidden('hourlyLimit', hourlyLimit, message);
  }
  if (burstLimit > key.burstLimit) {
    const message = `API key may make ${key.burstLimit} requests in a minute and cannot grant more`;
    throw forbidden('burstLimit', burstLimit, message);
  }
}

async function requireCompanies(
  transaction: Transaction,
  key: AuthenticatedKey,
  companyIds: readonly string[],
): Promise<void> {
  if (companyIds.length === 0) return;
  // If only some locations of a company are in the scope of an API key, this API key must not give another API key
  // access to the whole company.
  const grantable = key.unrestricted ? {} : { id: { in: [...key.companyIds] } };
  const companies = await transaction.company.findMany({
    where: { AND: [grantable, { id: { in: companyIds.filter(isId) } }] },
    select: { id: true },
  });
  const found = new Set(companies.map(({ id }) => id));
  const refused = companyIds.find((id) => !found.has(id));
  if (refused !== undefined) throw companyForbidden(refused);
}

/**
 * Checks that the API key `key` may rotate or change another API key (the target key). The target key must not have
 * more access than `key`. A client that rotates an API key gets the new secret. Without this check, a client could
 * rotate an API key that has more access than the client's own API key, and could then use the new secret.
 *
 * @throws {ServiceError} `FORBIDDEN`; the error message contains an access right that the target key has, but that
 *   `key` does not have
 */
export function requireAtLeast(key: AuthenticatedKey, target: ScopedApiKey): void {
  const excess = key.id === target.id ? undefined : excessOf(key, target);
  if (excess) {
    const message = `API key cannot rotate or change a key that has more than itself: ${excess}`;
    throw forbidden('id', target.id, message);
  }
}

/**
 * Describes the first access right of the target key that `key` does not have: a permission, a later expiry, a larger
 * scope or a higher rate limit. Returns `undefined` if the target key has no access right that `key` lacks. If `key` is
 * an operator's key, `excessOf` does not compare the rate limits of the two API keys.
 */
function excessOf(key: AuthenticatedKey, target: ScopedApiKey): string | undefined {
  const lacking = target.permissions.find((permission) => !key.permissions.has(permission));
  if (lacking) return `the permission ${lacking}`;
  if (endsLater(target.expiresAt, key.expiresAt)) return 'a later end';
  if (key.unrestricted) return undefined;
  const companies = new Set(key.companyIds);
  const locations = new Set(key.locationIds);
  const isWithinScope =
    !target.unrestricted &&
    target.companies.every(({ id }) => companies.has(id)) &&
    target.locations.every(({ id, companyId }) => companies.has(companyId) || locations.has(id));
  if (!isWithinScope) return 'companies or locations outside its scope';
  if (target.hourlyLimit > key.hourlyLimit || target.burstLimit > key.burstLimit) return 'higher limits';
  return undefined;
}
