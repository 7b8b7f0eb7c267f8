import { ServiceError } from '../errors/error-table.ts';
import type { Authenticator } from './authenticator.ts';
import type { AuthenticatedKey } from './key.ts';
import { reachesLocation } from './scope.ts';

/**
 * Checks the API key again during a long request, such as a stream. A long request must end when the API key with which
 * it was sent has lost a permission or a part of its scope.
 *
 * @param before the API key, with the permissions and the scope that it had at the start of the request
 * @returns the API key with its current permissions and scope
 * @throws {ServiceError} `UNAUTHORIZED` when the secret is no longer valid, and `FORBIDDEN` when the API key has lost a
 *   permission or a part of its scope
 */
export async function reauthenticate(
  authenticator: Pick<Authenticator, 'authenticate'>,
  secret: string | undefined,
  before: AuthenticatedKey,
): Promise<AuthenticatedKey> {
  const now = await authenticator.authenticate(secret);
  if (now !== before && hasLost(before, now)) {
    throw new ServiceError(
      'FORBIDDEN',
      'API key has lost a permission or a part of its scope since the request began',
    );
  }
  return now;
}

/**
 * Whether an API key has lost a permission or a part of its scope since the request began. If the scope no longer lists
 * a location but contains the company of the location, the API key keeps its access to this location.
 */
function hasLost(before: AuthenticatedKey, now: AuthenticatedKey): boolean {
  if ([...before.permissions].some((permission) => !now.permissions.has(permission))) return true;
  if (now.unrestricted) return false;
  return (
    before.unrestricted ||
    before.companyIds.some((id) => !now.companyIds.includes(id)) ||
    before.locations.some((location) => !reachesLocation(now, location))
  );
}
