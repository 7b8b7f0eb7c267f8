import { type Location, Prisma } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../audit/record.ts';
import { modelColumns } from '../database/columns.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { locationNotFound } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import { type Reach, scopeCondition, scopeParameters } from '../auth/scope.ts';

/**
 * Reads a location in the reach of a key, and locks it until the transaction ends: changes of one location
 * that depend on each other run one after the other. Not `FOR UPDATE`, for which the foreign keys of single
 * creates would wait. The parameters are `locationId` and `scopeParameters`.
 */
export const lockedLocation = `
  SELECT ${modelColumns(Prisma.LocationScalarFieldEnum, 'l')} FROM "Location" l
  WHERE l.id = $locationId AND ${scopeCondition('l')} FOR NO KEY UPDATE`;

const lockStatement = namedStatement('location-lock', lockedLocation);

/** The reach of the service itself, for changes that no key makes. */
export const everyLocation: Reach = { unrestricted: true, companyIds: [], locationIds: [] };

/**
 * Locks a location for the rest of a transaction.
 *
 * @param reach of the key that makes a change, or `everyLocation`
 * @throws {ServiceError} `NOT_FOUND` for an unknown location and for one out of the key's reach
 */
export async function lockLocation(transaction: Transaction, id: string, reach: Reach): Promise<Location> {
  if (!isId(id)) throw locationNotFound(id);
  const [location] = await queryInTransaction<Location>(transaction, lockStatement, {
    locationId: id,
    ...scopeParameters(reach),
  });
  if (!location) throw locationNotFound(id);
  return location;
}
