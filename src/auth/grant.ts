import type { Permission } from '../../prisma/generated/client/enums.ts';
import type { Transaction } from '../database/types.ts';
import { companyForbidden, locationNotFound, ServiceError } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import type { AuthenticatedKey, ScopedApiKey } from './key.ts';
import { companyScope, locationScope } from './scope.ts';

// An API key can give another key only what it has itself: its permissions, scope, limits and lifetime
// (docs/contract.md#keys). Only an operator's key may give higher limits than its own; otherwise nobody could give
// them.

/** The permissions, scope, limits and lifetime that one API key gives to another. An omitted field gives nothing. */
export interface Grant {
  permissions?: readonly Permission[] | undefined;
  companyIds?: readonly string[] | undefined;
  locationIds?: readonly string[] | undefined;
  /** The maximum number of requests in an hour. */
  hourlyLimit?: number | undefined;
  /** The maximum number of requests in a minute. */
  burstLimit?: number | undefined;
  /** When the other API key expires; null means never. */
  expiresAt?: Date | null | undefined;
}

/** Whether one expiry time is later than another; null means never. */
const endsLater = (end: Date | null, other: Date | null) => other !== null && (end === null || end > other);

const forbidden = (field: string, value: unknown, message: string) =>
  new ServiceError('FORBIDDEN', message, { field, value });

/**
 * Checks that an API key has everything that it wants to give to another key, and that the companies and locations
 * exist.
 *
 * @throws {ServiceError} `FORBIDDEN` with the name of the field, `NOT_FOUND` for a location that is unknown or outside
 *   the scope of the key
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

/** Checks the permissions, the expiry and the limits that a key wants to give. This check needs no database. */
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
  // An API key with only one location of a company must not give access to the whole company, which may have other
  // locations.
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
 * Checks that an API key may rotate or change another API key. It must have at least the same permissions, scope,
 * limits and lifetime. Otherwise, a client could obtain a secret with more access than its own key has.
 *
 * @throws {ServiceError} `FORBIDDEN`, with what the key lacks in the message
 */
export function requireAtLeast(key: AuthenticatedKey, target: ScopedApiKey): void {
  const excess = key.id === target.id ? undefined : excessOf(key, target);
  if (excess) {
    const message = `API key cannot rotate or change a key that has more than itself: ${excess}`;
    throw forbidden('id', target.id, message);
  }
}

/**
 * Describes the first permission, scope, limit or lifetime that the other API key has and the acting key lacks. The
 * result is undefined when the acting key lacks nothing.
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
