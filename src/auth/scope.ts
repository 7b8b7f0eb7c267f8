import type { Prisma } from '../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from './auth.ts';
import { locationNotFound } from './errors.ts';

// What a key reaches: as the `where` of lists, as the test of a row that is at hand already, and as the
// condition of a statement that reads and writes at once. test/stores.test.ts holds the three together.

/** The locations that a key reaches. */
export function locationScope(key: AuthenticatedKey): Prisma.LocationWhereInput {
  if (key.unrestricted) return {};
  return { OR: [{ companyId: { in: [...key.companyIds] } }, { id: { in: [...key.locationIds] } }] };
}

/** Whether a key reaches a location. */
export function reachesLocation(key: AuthenticatedKey, location: { id: string; companyId: string }): boolean {
  return (
    key.unrestricted || key.companyIds.includes(location.companyId) || key.locationIds.includes(location.id)
  );
}

/** The condition on `"Location" l` that stands for the key's scope; its parameters are `scopeValues`. */
export const scopeCondition = (unrestricted: string, companyIds: string, locationIds: string) =>
  `(${unrestricted}::boolean OR l."companyId" = ANY(${companyIds}::text[]) OR l.id = ANY(${locationIds}::text[]))`;

/** The parameters of `scopeCondition`, in its order. */
export function scopeValues(key: AuthenticatedKey): [boolean, readonly string[], readonly string[]] {
  return [key.unrestricted, key.companyIds, key.locationIds];
}

/**
 * Passes a location on that exists and that the key reaches.
 *
 * @param id what the client asked for
 * @throws {ServiceError} `NOT_FOUND`, the same for an unknown location and for one out of reach
 */
export function reachable<Row extends { id: string; companyId: string }>(
  key: AuthenticatedKey,
  id: string,
  location: Row | null | undefined,
): Row {
  if (!location || !reachesLocation(key, location)) throw locationNotFound(id);
  return location;
}

/** The companies that a key may see: those it is tied to, and those that own a location it is tied to. */
export function companyScope(key: AuthenticatedKey): Prisma.CompanyWhereInput {
  return key.unrestricted ? {} : { id: { in: [...key.visibleCompanyIds] } };
}

/** Whether a key may see a company. */
export function reachesCompany(key: AuthenticatedKey, companyId: string): boolean {
  return key.unrestricted || key.visibleCompanyIds.includes(companyId);
}

/** The webhooks that a key manages: those of the companies it is tied to. */
export function webhookScope(key: AuthenticatedKey): Prisma.WebhookWhereInput {
  return key.unrestricted ? {} : { companyId: { in: [...key.companyIds] } };
}

/** The audit records of what a key reaches. */
export function auditScope(key: AuthenticatedKey): Prisma.AuditRecordWhereInput {
  if (key.unrestricted) return {};
  return {
    OR: [{ companyId: { in: [...key.companyIds] } }, { locationId: { in: [...key.locationIds] } }],
  };
}

/** The keys that a key administers: those that reach nothing outside of its own companies and locations. */
export function apiKeyScope(key: AuthenticatedKey): Prisma.ApiKeyWhereInput {
  if (key.unrestricted) return {};
  return {
    unrestricted: false,
    OR: [{ companies: { some: {} } }, { locations: { some: {} } }],
    companies: { every: { id: { in: [...key.companyIds] } } },
    locations: { every: locationScope(key) },
  };
}
