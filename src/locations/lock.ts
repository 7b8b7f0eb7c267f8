import { type Location, Prisma } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../audit/record.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { modelColumns } from '../database/columns.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { locationNotFound } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import { scopeCondition, scopeParameters } from '../auth/scope.ts';

/**
 * Reads a location in the reach of a key, and locks it until the transaction ends: changes of one location
 * that depend on each other run one after the other. Not `FOR UPDATE`, for which the foreign keys of single
 * creates would wait. The parameters are `locationId` and `scopeParameters`.
 */
export const lockedLocation = `
  SELECT ${modelColumns(Prisma.LocationScalarFieldEnum, 'l')} FROM "Location" l
  WHERE l.id = $locationId AND ${scopeCondition('l')} FOR NO KEY UPDATE`;

const lockStatement = namedStatement('location-lock', lockedLocation);

/**
 * Locks a location for the rest of a transaction.
 *
 * @throws {ServiceError} `NOT_FOUND` for an unknown location and for one out of the key's reach
 */
export async function lockLocation(
  transaction: Transaction,
  id: string,
  key: AuthenticatedKey,
): Promise<Location> {
  if (!isId(id)) throw locationNotFound(id);
  const [location] = await queryInTransaction<Location>(transaction, lockStatement, {
    locationId: id,
    ...scopeParameters(key),
  });
  if (!location) throw locationNotFound(id);
  return location;
}
