import type { AuthenticatedKey } from '../auth/key.ts';
import { locationScope } from '../auth/scope.ts';
import type { Transaction } from '../database/types.ts';
import { locationNotFound } from '../errors/error-table.ts';
import { isId } from '../ids.ts';

/**
 * Checks the locations that a client sent as a list of ids. Each location must be in the scope of the API key.
 *
 * @param companyId the company to which each location must belong; if omitted or null, any company
 * @throws {ServiceError} `NOT_FOUND` for the first location that is unknown, outside the scope, or of another company
 */
export async function requireLocations(
  transaction: Transaction,
  key: AuthenticatedKey,
  ids: readonly string[],
  companyId?: string | null,
): Promise<void> {
  if (ids.length === 0) return;
  const locations = await transaction.location.findMany({
    where: { AND: [locationScope(key), { id: { in: ids.filter(isId) }, ...(companyId && { companyId }) }] },
    select: { id: true },
  });
  const found = new Set(locations.map(({ id }) => id));
  const unknown = ids.find((id) => !found.has(id));
  if (unknown !== undefined) throw locationNotFound(unknown);
}
