import type { Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from './key.ts';
import { locationNotFound } from '../errors/error-table.ts';

// The code checks the scope of an API key in three ways. Lists use a Prisma filter, rows that were already read are
// checked in TypeScript, and hand-written SQL contains a condition. test/storage/statements.test.ts checks that all
// three agree.

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
 * The SQL condition that a row of `"Location"` is in the scope of an API key. The condition needs the parameters of
 * `scopeParameters`.
 */
export const scopeCondition = (alias: string) =>
  `($unrestricted::boolean OR ${alias}."companyId" = ANY($companyIds::text[]) OR ${alias}.id = ANY($locationIds::text[]))`;

/** The fields of an API key that decide which locations are in its scope. */
export type Reach = Pick<AuthenticatedKey, 'unrestricted' | 'companyIds' | 'locationIds'>;

/**
 * The maximum number of company ids that a query for a location contains. Most API keys have fewer companies. The ids
 * take less than 4 KiB.
 */
const maxCompaniesOfQuestion = 100;

/**
 * Returns the companies of an API key for the SQL condition `isOfCompanies`. With this condition, a statement reads a
 * location only if one of the companies owns it. The result is null if the scope contains single locations, if the key
 * is an operator's key, or if the key has very many companies. The statement then reads any location, and `reachable`
 * checks the row.
 */
export const companiesOfReach = ({ unrestricted, companyIds, locationIds }: Reach, locationId: string) =>
  unrestricted || companyIds.length > maxCompaniesOfQuestion || locationIds.includes(locationId)
    ? null
    : companyIds.join(' ');

/** Returns the parameters of `scopeCondition`. */
export function scopeParameters({ unrestricted, companyIds, locationIds }: Reach) {
  return { unrestricted, companyIds, locationIds };
}

/**
 * Returns the location if it exists and is in the scope of the API key.
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
 * The Prisma filter for the companies that an API key may see. They are the companies in its scope, and the companies
 * that own the locations in its scope.
 */
export function companyScope(key: AuthenticatedKey): Prisma.CompanyWhereInput {
  return key.unrestricted ? {} : { id: { in: [...key.visibleCompanyIds] } };
}

/** Whether an API key may see a company. */
export function reachesCompany(key: AuthenticatedKey, companyId: string): boolean {
  return key.unrestricted || key.visibleCompanyIds.includes(companyId);
}

/**
 * Whether a company as a whole is in the scope of an API key. Only then may the key change the company or create
 * objects in it. A single location of the company in the scope is not enough.
 */
export function hasCompanyInScope(key: AuthenticatedKey, companyId: string): boolean {
  return key.unrestricted || key.companyIds.includes(companyId);
}

/** The Prisma filter for the webhooks that an API key may manage. They belong to the companies in its scope. */
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
 * The Prisma filter for the API keys that a key may see and revoke. Their scope shares at least one company or location
 * with the scope of the acting key (docs/contract.md#keys). For rotating or changing a key, `requireAtLeast` must also
 * succeed.
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
