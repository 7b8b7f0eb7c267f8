import { invalidField, ServiceError } from '../errors/error-table.ts';
import type { AuthenticatedKey, ScopedApiKey } from './key.ts';

// Only a client with an operator's key can create an API key with an empty scope (no companies and no locations). The
// administrators of a company can neither see nor revoke an API key with an empty scope. The scope of an operator's key
// lists no company and no location, because an operator's key has access to every company and location.

/** The companies and locations in the scope of an API key. */
interface KeyScope {
  companyIds: readonly string[];
  locationIds: readonly string[];
}

/**
 * Checks the scope of a new API key. The caller calls this function only if the client does not use an operator's key.
 *
 * @throws {ServiceError} `FORBIDDEN` when the new key would be an operator's key, or would have no companies and no
 *   locations
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
 * Checks the scope that an API key would have after a change. Companies and locations cannot be added to the scope of
 * an operator's key. Only a client with an operator's key can remove the last company or location from the scope of an
 * API key.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` when an operator's key would get a company or location. `FORBIDDEN` when a
 *   client without an operator's key removes the last company or location from the scope of an API key
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
