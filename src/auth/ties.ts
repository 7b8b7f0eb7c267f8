import { invalidField, ServiceError } from '../errors/error-table.ts';
import type { AuthenticatedKey, TiedApiKey } from './key.ts';

// What a key must be tied to. Nobody of a company could see or revoke a key without ties.

/** The companies and locations that a key is tied to. */
interface Ties {
  companyIds: readonly string[];
  locationIds: readonly string[];
}

/** Lets a request of a restricted key pass that ties the new key to something. */
export function requireTiesOfNewKey(unrestricted: boolean, { companyIds, locationIds }: Ties): void {
  if (unrestricted) {
    const message = "Only an operator's key can issue an operator's key";
    throw new ServiceError('FORBIDDEN', message, { field: 'unrestricted', value: true });
  }
  if (companyIds.length + locationIds.length === 0) {
    const message = 'API key must tie the new key to a company or a location: name companyIds or locationIds';
    throw new ServiceError('FORBIDDEN', message, { field: 'companyIds', value: companyIds });
  }
}

/**
 * Lets a change pass after which the key still has ties if it must: an operator's key never gets any, and one
 * without ties is out of the reach of its company.
 */
export function requireTiesOfChangedKey(
  key: AuthenticatedKey,
  { unrestricted }: TiedApiKey,
  { companyIds, locationIds }: Ties,
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
