import type { Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from './key.ts';
import { locationNotFound } from '../errors/error-table.ts';

// What a key reaches: as the `where` of lists, as the test of a row that is at hand already, and as the
// condition of a statement that reads and writes at once. test/statements.test.ts holds the three together.

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

/** The condition on a row of `"Location"` that stands for the key's scope; its parameters are `scopeParameters`. */
export const scopeCondition = (alias: string) =>
  `($unrestricted::boolean OR ${alias}."companyId" = ANY($companyIds::text[]) OR ${alias}.id = ANY($locationIds::text[]))`;

/** The part of a key that says which locations it reaches. */
export type Reach = Pick<AuthenticatedKey, 'unrestricted' | 'companyIds' | 'locationIds'>;

/** Companies of a key that a question about a location carries: those of most keys, in less than 4 KiB. */
const maxCompaniesOfQuestion = 100;

/**
 * The companies of which one must own a location for a key to reach it, as `isOfCompanies` takes them; null when the key
 * reaches the location whoever owns it, and for a key of very many companies. `reachable` has the last word.
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

/** Whether a key is tied to a company itself: to change the company, or to add to it, a tie to a location is not enough. */
export function isTiedToCompany(key: AuthenticatedKey, companyId: string): boolean {
  return key.unrestricted || key.companyIds.includes(companyId);
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

/**
 * The keys that a key administers, which it may see and revoke: those that are tied to a company or a location
 * in its reach, whatever else they are tied to (decisions, "keys"). To rotate or change them takes more:
 * `requireAtLeast`.
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
