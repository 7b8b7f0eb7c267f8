import type { Location } from '../prisma/generated/client/client.ts';
import type { Transaction } from './audit.ts';
import type { AuthenticatedKey } from './auth.ts';
import { locationNotFound } from './errors.ts';
import { scopeCondition, scopeValues } from './scope.ts';

/**
 * Reads a location in the reach of a key, and holds it until the transaction ends: changes of one location
 * that depend on each other run one after the other. Not `FOR UPDATE`, for which the foreign keys of single
 * creates would wait. The parameters are the id and `scopeValues`.
 */
export const lockedLocation = `
  SELECT l.* FROM "Location" l
  WHERE l.id = $1 AND ${scopeCondition('$2', '$3', '$4')} FOR NO KEY UPDATE`;

/**
 * Holds a location for the rest of a transaction.
 *
 * @throws {ServiceError} `NOT_FOUND` for an unknown location and for one out of the key's reach
 */
export async function lockLocation(
  transaction: Transaction,
  id: string,
  key: AuthenticatedKey,
): Promise<Location> {
  const [location] = await transaction.$queryRawUnsafe<Location[]>(lockedLocation, id, ...scopeValues(key));
  if (!location) throw locationNotFound(id);
  return location;
}
