import type { Permission } from '../../prisma/generated/client/enums.ts';
import type { Transaction } from '../database/types.ts';
import { companyForbidden, locationNotFound, ServiceError } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import type { AuthenticatedKey, ScopedApiKey } from './key.ts';
import { companyScope, locationScope } from './scope.ts';

// An API key can give another API key at most the permissions, scope, limits and lifetime that the first key itself has
// (docs/contract-keys.md#keys). An operator's key is an exception: it may give another API key higher rate limits than
// the operator's key itself has. Without this exception, no new API key could have higher rate limits than the existing
// API keys.

/**
 * The permissions, scope, limits and expiry that one API key gives to another API key. If a member such as
 * `permissions` is omitted, the grant contains no permissions.
 */
export interface Grant {
  permissions?: readonly Permission[] | undefined;
  companyIds?: readonly string[] | undefined;
  locationIds?: readonly string[] | undefined;
  /** The hourly rate limit of the API key that receives the grant, in points. */
  hourlyLimit?: number | undefined;
  /** The burst rate limit of the API key that receives the grant, in points. */
  burstLimit?: number | undefined;
  /** The time at which the API key that receives the grant expires, or null if this key never expires. */
  expiresAt?: Date | null | undefined;
}

/**
 * Whether an API key with the expiry time `end` stays valid for longer than an API key with the expiry time `other`.
 * The expiry time null means that an API key never expires.
 */
const endsLater = (end: Date | null, other: Date | null) => other !== null && (end === null || end > other);

const forbidden = (field: string, value: unknown, message: string) =>
  new ServiceError('FORBIDDEN', message, { field, value });

/**
 * Checks that `key` gives another API key no more access than `key` itself has, and that the companies and locations in
 * `grant` exist.
 *
 * @throws {ServiceError} `FORBIDDEN` with the name of the field that would give the other API key too much access.
 *   `NOT_FOUND` for a location that is unknown or outside the scope of `key`
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
  // If only some locations of a company are in the scope of an API key, the API key must not give access to the whole
  // company.
  const grantable = key.unrestricted ? companyScope(key) : { id: { in: [...key.companyIds] } };
  const companies = await transaction.company.findMany({
    where: { AND: [grantable, { id: { in: companyIds.filter(isId) } }] },
    select: { id: true },
  });
  const found = new Set(companies.map(({ id }) => id));
  const refused = companyIds.find((id) => !found.has(id));
  if (refused !== undefined) throw companyForbidden(refused);
}

async function requireLocations(
  transaction: Transaction,
  key: AuthenticatedKey,
  locationIds: readonly string[],
): Promise<void> {
  if (locationIds.length === 0) return;
  const locations = await transaction.location.findMany({
    where: { AND: [locationScope(key), { id: { in: locationIds.filter(isId) } }] },
    select: { id: true },
  });
  const found = new Set(locations.map(({ id }) => id));
  const unknown = locationIds.find((id) => !found.has(id));
  if (unknown !== undefined) throw locationNotFound(unknown);
}

/**
 * Checks that an API key may rotate or change another API key (the target key). `key` must have at least the
 * permissions, scope, limits and lifetime of the target key; for an operator's key, the limits do not matter. Without
 * this check, a client could rotate an API key that has more access than the client's own key, and would get the new
 * secret.
 *
 * @throws {ServiceError} `FORBIDDEN`; the error message names the access that only the target key has
 */
export function requireAtLeast(key: AuthenticatedKey, target: ScopedApiKey): void {
  const excess = key.id === target.id ? undefined : excessOf(key, target);
  if (excess) {
    const message = `API key cannot rotate or change a key that has more than itself: ${excess}`;
    throw forbidden('id', target.id, message);
  }
}

/**
 * Describes what the target key has in addition to `key`: a permission, a later expiry, a larger scope or a higher rate
 * limit. If the target key has several such advantages over `key`, the description contains only the first advantage.
 * Returns `undefined` if the target key has no more access than `key`, or if `key` is an operator's key and the target
 * key has only higher rate limits.
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
