import type { Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from './key.ts';
import { locationNotFound } from '../errors/error-table.ts';

// The scope of an API key is applied in three ways: as a Prisma filter for lists, as a condition in hand-written SQL,
// and as a TypeScript function for rows in memory. test/storage/statements.test.ts checks that all three ways give the
// same result.

/** The Prisma filter for the locations in the scope of an API key. */
export function locationScope(key: AuthenticatedKey): Prisma.LocationWhereInput {
  if (key.unrestricted) return {};
  return { OR: [{ companyId: { in: [...key.companyIds] } }, { id: { in: [...key.locationIds] } }] };
}

/** Whether a location is in the scope of an API key. */
export function reachesLocation(key: AuthenticatedKey, location: { id: string; companyId: string }): boolean {
  return (
    key.unrestricted || key.companyIds.includes(location.companyId) || key.locationIds.includes(location.id)
  );
}

/**
 * Returns an SQL condition that is true for the rows of the table `"Location"` that are in the scope of an API key. The
 * function `scopeParameters` returns the parameters that this SQL condition needs.
 */
export const scopeCondition = (alias: string) =>
  `($unrestricted::boolean OR ${alias}."companyId" = ANY($companyIds::text[]) OR ${alias}.id = ANY($locationIds::text[]))`;

/** The fields of an API key that decide which locations are in its scope. */
export type Reach = Pick<AuthenticatedKey, 'unrestricted' | 'companyIds' | 'locationIds'>;

/**
 * The maximum number of company ids in a database query for one location. The scope of most API keys has fewer than 100
 * companies, and the ids of 100 companies occupy less than 4 KiB.
 */
const maxCompaniesOfQuestion = 100;

/**
 * Returns the ids of the companies in an API key's scope, as text for the SQL condition `isOfCompanies`. With the
 * condition `isOfCompanies`, an SQL statement reads a location only if a company with one of the given ids owns the
 * location. The function returns null in three cases: the API key is an operator's key, its scope has more than 100
 * companies, or its `locationIds` contain the location. If `companiesOfReach` returns null, the SQL statement reads the
 * location regardless of the company that owns it. The function `reachable` then checks the scope of the API key.
 */
export const companiesOfReach = ({ unrestricted, companyIds, locationIds }: Reach, locationId: string) =>
  unrestricted || companyIds.length > maxCompaniesOfQuestion || locationIds.includes(locationId)
    ? null
    : companyIds.join(' ');

/** Returns the SQL parameters of `scopeCondition`. */
export function scopeParameters({ unrestricted, companyIds, locationIds }: Reach) {
  return { unrestricted, companyIds, locationIds };
}

/**
 * An SQL condition that is true if a location is in the scope of an API key. In an SQL statement with `isInScope`, the
 * alias `l` stands for the row of the location. The alias `q` stands for the row with the values of the requested
 * change. The columns `isReached` and `companyIds` of `q` contain the result of the function `scopeOfLocation`.
 */
export const isInScope = `(q."isReached" OR l."companyId" = ANY (string_to_array(q."companyIds", ' ')))`;

/**
 * Returns the values that the SQL condition `isInScope` needs for one change of a location. `isReached` is true for an
 * operator's key, and for an API key whose `locationIds` contain the location. If `isReached` is true, `isInScope` is
 * true whichever company owns the location.
 */
export function scopeOfLocation({ unrestricted, companyIds, locationIds }: Reach, locationId: string) {
  const isReached = unrestricted || locationIds.includes(locationId);
  return { isReached, companyIds: isReached ? '' : companyIds.join(' ') };
}

/**
 * Returns the location if it exists and is in the scope of the API key.
 *
 * @param id the identifier that the client sent
 * @throws {ServiceError} `NOT_FOUND` for an unknown location, and also for a location outside the scope of the API key
 */
export function reachable<Row extends { id: string; companyId: string }>(
  key: AuthenticatedKey,
  id: string,
  location: Row | null | undefined,
): Row {
  if (!location || !reachesLocation(key, location)) throw locationNotFound(id);
  return location;
}

/**
 * The Prisma filter for the companies that an API key may see. An API key may see the companies in its scope, and the
 * owners of the locations in its scope.
 */
export function companyScope(key: AuthenticatedKey): Prisma.CompanyWhereInput {
  return key.unrestricted ? {} : { id: { in: [...key.visibleCompanyIds] } };
}

/** Whether an API key may see a company. */
export function reachesCompany(key: AuthenticatedKey, companyId: string): boolean {
  return key.unrestricted || key.visibleCompanyIds.includes(companyId);
}

/**
 * Whether a whole company is in the scope of an API key. If the scope of an API key contains only some locations of a
 * company, the key may not change the company or create objects in it.
 */
export function hasCompanyInScope(key: AuthenticatedKey, companyId: string): boolean {
  return key.unrestricted || key.companyIds.includes(companyId);
}

/** The Prisma filter for the webhooks that an API key may manage: the webhooks of the companies in its scope. */
export function webhookScope(key: AuthenticatedKey): Prisma.WebhookWhereInput {
  return key.unrestricted ? {} : { companyId: { in: [...key.companyIds] } };
}

/** The Prisma filter for the audit records of the companies and locations in the scope of an API key. */
export function auditScope(key: AuthenticatedKey): Prisma.AuditRecordWhereInput {
  if (key.unrestricted) return {};
  return {
    OR: [{ companyId: { in: [...key.companyIds] } }, { locationId: { in: [...key.locationIds] } }],
  };
}

/**
 * The Prisma filter for all API keys that the given API key may see and revoke. An API key may see and revoke another
 * API key if their scopes have at least one company or location in common (docs/contract-keys.md#keys). A client can
 * rotate or change only API keys that have no more access than the client's own API key (`requireAtLeast`).
 */
export function apiKeyScope(key: AuthenticatedKey): Prisma.ApiKeyWhereInput {
  if (key.unrestricted) return {};
  return {
    unrestricted: false,
    OR: [
      { companies: { some: { id: { in: [...key.companyIds] } } } },
      { locations: { some: locationScope(key) } },
    ],
  };
}
