import { type Location, Prisma } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import { modelColumns } from '../database/columns.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { locationNotFound } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import { type Reach, scopeCondition, scopeParameters } from '../auth/scope.ts';

/**
 * Reads a location in the scope of an API key, and locks it until the transaction ends. Changes of the same location
 * therefore run one after another. The statement does not use `FOR UPDATE`, because that lock would also prevent the
 * creation of rows that refer to the location. The parameters are `locationId` and `scopeParameters`.
 */
export const lockedLocation = `
  SELECT ${modelColumns(Prisma.LocationScalarFieldEnum, 'l')} FROM "Location" l
  WHERE l.id = $locationId AND ${scopeCondition('l')} FOR NO KEY UPDATE`;

const lockStatement = namedStatement('location-lock', lockedLocation);

/** The scope that the gateway itself uses for changes that no client requested. */
export const everyLocation: Reach = { unrestricted: true, companyIds: [], locationIds: [] };

/**
 * Locks a location until the transaction ends.
 *
 * @param reach the scope of the key that makes the change, or `everyLocation`
 * @throws {ServiceError} `NOT_FOUND` for an unknown location and for a location outside the scope
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
