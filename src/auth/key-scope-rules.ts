import { invalidField, ServiceError } from '../errors/error-table.ts';
import type { AuthenticatedKey, ScopedApiKey } from './key.ts';

// An API key must have a company or a location in its scope. Otherwise, no administrator of a company could see or
// revoke the key. Only operator's keys are different, because they have access to everything.

/** The companies and locations in the scope of a key. */
interface KeyScope {
  companyIds: readonly string[];
  locationIds: readonly string[];
}

/**
 * Checks the scope that a client requests for a new API key, if the client's own key is not an operator's key.
 *
 * @throws {ServiceError} `FORBIDDEN` for an operator's key, and for a key without companies and locations
 */
export function requireScopeOfNewKey(unrestricted: boolean, { companyIds, locationIds }: KeyScope): void {
  if (unrestricted) {
    const message = "Only an operator's key can issue an operator's key";
    throw new ServiceError('FORBIDDEN', message, { field: 'unrestricted', value: true });
  }
  if (companyIds.length + locationIds.length === 0) {
    const message = 'API key can issue only keys for companies or locations; set companyIds or locationIds';
    throw new ServiceError('FORBIDDEN', message, { field: 'companyIds', value: companyIds });
  }
}

/**
 * Checks the scope that an API key would have after a change. An operator's key cannot get companies or locations. Only
 * an operator's key can remove the last company or location of a key, because no administrator of a company could see
 * that key.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` or `FORBIDDEN`
 */
export function requireScopeOfChangedKey(
  key: AuthenticatedKey,
  { unrestricted }: ScopedApiKey,
  { companyIds, locationIds }: KeyScope,
): void {
  const hasScope = companyIds.length + locationIds.length > 0;
  if (unrestricted && hasScope) {
    const field = companyIds.length > 0 ? 'companyIds' : 'locationIds';
    const message =
      "An operator's key has access to everything; issue another key for single companies or locations";
    throw invalidField(field, message, companyIds.length > 0 ? companyIds : locationIds);
  }
  if (!key.unrestricted && !hasScope) {
    const message = 'API key cannot remove every company and location of a key; keep at least one';
    throw new ServiceError('FORBIDDEN', message, { field: 'companyIds', value: companyIds });
  }
}
