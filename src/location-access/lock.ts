import type { Location } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { locationNotFound } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import { type Reach, scopeParameters } from '../auth/scope.ts';
import { lockStatement } from './statements.ts';

/**
 * The scope that contains all companies and all locations. The gateway uses the scope `everyLocation` for changes that
 * no client requested.
 */
export const everyLocation: Reach = { unrestricted: true, companyIds: [], locationIds: [] };

/**
 * Locks a location until the transaction ends.
 *
 * @param reach the scope of the API key that makes the change, or `everyLocation` if the gateway itself makes the
 *   change
 * @throws {ServiceError} `NOT_FOUND` for an unknown location and for a location outside the given scope
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
