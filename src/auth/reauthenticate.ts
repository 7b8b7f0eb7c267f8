import { ServiceError } from '../errors/error-table.ts';
import type { Authenticator } from './authenticator.ts';
import type { AuthenticatedKey } from './key.ts';

/**
 * The key of a request whose answer takes long, as the key is now. What the request has begun with may go on as
 * long as the key still has all that it had then.
 *
 * @param before the key as it was when the request began
 * @throws {ServiceError} `UNAUTHORIZED` when the secret no longer opens the service, `FORBIDDEN` when the key has
 *   lost a permission or a part of its reach
 */
export async function reauthenticate(
  authenticator: Pick<Authenticator, 'authenticate'>,
  secret: string | undefined,
  before: AuthenticatedKey,
): Promise<AuthenticatedKey> {
  const now = await authenticator.authenticate(secret);
  if (now !== before && hasLost(before, now)) {
    throw new ServiceError('FORBIDDEN', 'API key has lost permissions or reach since the request began');
  }
  return now;
}

function hasLost(before: AuthenticatedKey, now: AuthenticatedKey): boolean {
  if ([...before.permissions].some((permission) => !now.permissions.has(permission))) return true;
  if (now.unrestricted) return false;
  return (
    before.unrestricted ||
    before.companyIds.some((id) => !now.companyIds.includes(id)) ||
    before.locationIds.some((id) => !now.locationIds.includes(id))
  );
}
