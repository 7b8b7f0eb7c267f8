import type { Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from './key.ts';
import { locationNotFound } from '../errors/error-table.ts';

// The scope of a key exists in three forms: a Prisma filter for lists, a check of a row that was already read, and a
// condition in a hand-written statement. test/storage/statements.test.ts checks that the three forms agree.

/** The Prisma filter for the locations in a key's scope. */
export function locationScope(key: AuthenticatedKey): Prisma.LocationWhereInput {
  if (key.unrestricted) return {};
  return { OR: [{ companyId: { in: [...key.companyIds] } }, { id: { in: [...key.locationIds] } }] };
}

/** Whether a location is in a key's scope. */
export function reachesLocation(key: AuthenticatedKey, location: { id: string; companyId: string }): boolean {
  return (
    key.unrestricted || key.companyIds.includes(location.companyId) || key.locationIds.includes(location.id)
  );
}

/**
 * The SQL condition that a row of `"Location"` is in a key's scope. The parameters of the condition come from
 * `scopeParameters`.
 */
export const scopeCondition = (alias: string) =>
  `($unrestricted::boolean OR ${alias}."companyId" = ANY($companyIds::text[]) OR ${alias}.id = ANY($locationIds::text[]))`;

/** The fields of a key that define which locations are in its scope. */
export type Reach = Pick<AuthenticatedKey, 'unrestricted' | 'companyIds' | 'locationIds'>;

/**
 * The maximum number of company ids in one query for a location. Most keys have fewer companies. The ids take less than
 * 4 KiB.
 */
const maxCompaniesOfQuestion = 100;

/**
 * Returns the companies of a key for the SQL condition `isOfCompanies`, which reads a location only if one of these
 * companies owns the location. The result is null, which reads every location, in three cases: the key's scope contains
 * single locations, the key is an operator's key, or the key has very many companies. `reachable` then checks the row.
 */
export const companiesOfReach = ({ unrestricted, companyIds, locationIds }: Reach, locationId: string) =>
  unrestricted || companyIds.length > maxCompaniesOfQuestion || locationIds.includes(locationId)
    ? null
    : companyIds.join(' ');

/** The named parameters of `scopeCondition`. */
export function scopeParameters({ unrestricted, companyIds, locationIds }: Reach) {
  return { unrestricted, companyIds, locationIds };
}

/**
 * Returns the location if the location exists and is in the key's scope.
 *
 * @param id the identifier that the client sent
 * @throws {ServiceError} `NOT_FOUND`, the same error for an unknown location and for a location outside the scope
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
 * The Prisma filter for the companies that a key may see: companies in its scope, and owners of locations in its scope.
 */
export function companyScope(key: AuthenticatedKey): Prisma.CompanyWhereInput {
  return key.unrestricted ? {} : { id: { in: [...key.visibleCompanyIds] } };
}

/** Whether a key may see a company. */
export function reachesCompany(key: AuthenticatedKey, companyId: string): boolean {
  return key.unrestricted || key.visibleCompanyIds.includes(companyId);
}

/**
 * Whether the company itself is in the key's scope. Only then may the key change the company or create objects in the
 * company. A single location of the company in the scope is not enough.
 */
export function hasCompanyInScope(key: AuthenticatedKey, companyId: string): boolean {
  return key.unrestricted || key.companyIds.includes(companyId);
}

/** The Prisma filter for the webhooks that a key manages: the webhooks of the companies in its scope. */
export function webhookScope(key: AuthenticatedKey): Prisma.WebhookWhereInput {
  return key.unrestricted ? {} : { companyId: { in: [...key.companyIds] } };
}

/** The Prisma filter for the audit records of the companies and locations in a key's scope. */
export function auditScope(key: AuthenticatedKey): Prisma.AuditRecordWhereInput {
  if (key.unrestricted) return {};
  return {
    OR: [{ companyId: { in: [...key.companyIds] } }, { locationId: { in: [...key.locationIds] } }],
  };
}

/**
 * The Prisma filter for the keys that a key may see and revoke. These keys share at least one company or location with
 * the scope of the acting key (docs/contract.md#keys). `requireAtLeast` must also succeed before the acting key rotates
 * or changes another key.
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
