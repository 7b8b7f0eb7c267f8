import type { Permission } from '../../prisma/generated/client/enums.ts';
import type { Transaction } from '../audit/record.ts';
import { companyForbidden, locationNotFound, ServiceError } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import type { AuthenticatedKey, TiedApiKey } from './key.ts';
import { companyScope, locationScope } from './scope.ts';

// A key gives away no more than it has: permissions, reach, limits, end (decisions, "keys"). An operator's key
// gives what it likes.

/** What one key gives to another one; what is left out is not given. */
export interface Grant {
  permissions?: readonly Permission[] | undefined;
  companyIds?: readonly string[] | undefined;
  locationIds?: readonly string[] | undefined;
  /** Requests in an hour. */
  hourlyLimit?: number | undefined;
  /** Requests in a minute. */
  burstLimit?: number | undefined;
  /** When the other key ends; null for never. */
  expiresAt?: Date | null | undefined;
}

/** Whether one end of a key is after another one; null is never. */
const endsLater = (end: Date | null, other: Date | null) => other !== null && (end === null || end > other);

const forbidden = (field: string, value: unknown, message: string) =>
  new ServiceError('FORBIDDEN', message, { field, value });

/**
 * Lets a grant pass whose every part the giving key has, and whose companies and locations exist.
 *
 * @throws {ServiceError} `FORBIDDEN` naming the field, `NOT_FOUND` for locations out of reach
 */
export async function requireGrantable(
  transaction: Transaction,
  key: AuthenticatedKey,
  grant: Grant,
): Promise<void> {
  if (!key.unrestricted) requireOwn(key, grant);
  await requireCompanies(transaction, key, grant.companyIds ?? []);
  await requireLocations(transaction, key, grant.locationIds ?? []);
}

/** The part of a grant that can be compared with the key alone. */
function requireOwn(key: AuthenticatedKey, grant: Grant): void {
  const { permissions = [], hourlyLimit = 0, burstLimit = 0, expiresAt } = grant;
  const lacking = permissions.find((permission) => !key.permissions.has(permission));
  if (lacking) {
    const message = `API key lacks the permission ${lacking} and cannot grant it`;
    throw forbidden('permissions', lacking, message);
  }
  if (hourlyLimit > key.hourlyLimit) {
    const message = `API key may make ${key.hourlyLimit} requests in an hour and cannot grant more`;
    throw forbidden('hourlyLimit', hourlyLimit, message);
  }
  if (burstLimit > key.burstLimit) {
    const message = `API key may make ${key.burstLimit} requests in a minute and cannot grant more`;
    throw forbidden('burstLimit', burstLimit, message);
  }
  if (expiresAt !== undefined && endsLater(expiresAt, key.expiresAt)) {
    const message = `API key ends at ${key.expiresAt?.toISOString()} and cannot grant a later end`;
    throw forbidden('expiresAt', expiresAt, message);
  }
}

async function requireCompanies(
  transaction: Transaction,
  key: AuthenticatedKey,
  companyIds: readonly string[],
): Promise<void> {
  if (companyIds.length === 0) return;
  // Only companies that the key is tied to: one that merely owns a location of the key has other locations too.
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
 * Lets a key pass that may rotate or change another one: it has at least what the other one has. With less it
 * would get, by the new secret, what nobody gave it.
 *
 * @throws {ServiceError} `FORBIDDEN` in words that tell what the key lacks
 */
export function requireAtLeast(key: AuthenticatedKey, target: TiedApiKey): void {
  const excess = key.unrestricted || key.id === target.id ? undefined : excessOf(key, target);
  if (excess) {
    const message = `API key cannot rotate or change a key that has more than itself: ${excess}`;
    throw forbidden('id', target.id, message);
  }
}

/** What a key has that another one lacks, in words; undefined when there is nothing. */
function excessOf(key: AuthenticatedKey, target: TiedApiKey): string | undefined {
  const lacking = target.permissions.find((permission) => !key.permissions.has(permission));
  if (lacking) return `the permission ${lacking}`;
  const companies = new Set(key.companyIds);
  const locations = new Set(key.locationIds);
  const withinReach =
    !target.unrestricted &&
    target.companies.every(({ id }) => companies.has(id)) &&
    target.locations.every(({ id, companyId }) => companies.has(companyId) || locations.has(id));
  if (!withinReach) return 'companies or locations out of its reach';
  if (target.hourlyLimit > key.hourlyLimit || target.burstLimit > key.burstLimit) return 'higher limits';
  if (endsLater(target.expiresAt, key.expiresAt)) return 'a later end';
  return undefined;
}
