import { type Location, Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import { prismaList } from '../database/prisma-list.ts';
import { createRowsById } from '../database/statement-batch.ts';
import type { Database } from '../database/types.ts';
import { locationScope, reachesCompany, scopeCondition, scopeParameters } from '../auth/scope.ts';
import { companyForbidden, locationNotFound } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import type { PagedList } from '../paging.ts';
import { type CapacityUse, freePlaces, locationState, occupiedOf } from '../parking/occupancy.ts';
import { idsReached, statusesById, type StatusRow } from './statements.ts';

/** The filter for a list of locations. The list contains only the locations that meet all conditions of this filter. */
interface LocationFilter {
  companyId?: string | null | undefined;
  /** A text that the name of the location must contain. */
  search?: string | null | undefined;
}

/**
 * Returns the Prisma filter for locations whose name contains a text. In the text to search for, the characters `%` and
 * `_` have no special meaning.
 */
const nameContains = (text: string): Prisma.LocationWhereInput => ({
  name: { contains: text.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' },
});

/** The current occupancy of a location. */
export type LocationStatus = ReturnType<typeof statusOf>;

/**
 * Computes all fields of a location's status in one call. One GraphQL response can contain the statuses of a hundred
 * locations, and a separate resolver for each field would take more time than one call for all fields.
 */
function statusOf(row: StatusRow) {
  const { capacity, adjustment, lastActivityAt, lastCountedAt } = row;
  const capacityUse: CapacityUse = { capacity, occupied: occupiedOf(row) };
  return {
    locationId: row.id,
    slug: row.slug,
    name: row.name,
    state: locationState(capacityUse),
    capacity,
    occupied: capacityUse.occupied,
    adjustment,
    available: freePlaces(capacityUse),
    whitelistedVehicles: row.whitelistedVehicles,
    lastActivityAt,
    updatedAt: [lastActivityAt, lastCountedAt].reduce<Date>(
      (latest, other) => (other && other > latest ? other : latest),
      row.updatedAt,
    ),
  };
}

/** The functions that read locations from the database. */
export type LocationReads = ReturnType<typeof createLocationReads>;

/**
 * Creates the functions that read locations. If several GraphQL fields need locations in the same iteration of the
 * event loop, one SQL statement reads all of these locations.
 */
export function createLocationReads({ prisma, sql, kind }: Pick<Database, 'prisma' | 'sql' | 'kind'>) {
  const statusRows = createRowsById<StatusRow>(sql, statusesById);
  const statuses = async (ids: readonly string[]) => (await statusRows(ids)).map(statusOf);
  const locationsOfCompany = createKeysetList<
    Location,
    { ownerId: string; key: AuthenticatedKey },
    AuthenticatedKey
  >(sql, {
    kind,
    table: 'Location',
    fields: Prisma.LocationScalarFieldEnum,
    owner: { table: 'Company', column: 'companyId' },
    condition: scopeCondition('r'),
    sharedOf: ({ key }) => key,
    sharedParameters: scopeParameters,
  });

  return {
    /**
     * Lists the locations in the scope of an API key.
     *
     * @param filter selects the locations of one company, or the locations whose name contains a text
     * @throws {ServiceError} `FORBIDDEN` when the filter contains a company outside the scope of the API key
     */
    inScopeOf(key: AuthenticatedKey, { companyId, search }: LocationFilter = {}): PagedList<Location> {
      if (companyId && !(isId(companyId) && reachesCompany(key, companyId)))
        throw companyForbidden(companyId);
      return prismaList(prisma.location, {
        AND: [locationScope(key), companyId ? { companyId } : {}, search ? nameContains(search) : {}],
      });
    },

    /** Returns the status of each location in the scope of an API key, oldest location first. */
    async allStatuses(key: AuthenticatedKey): Promise<LocationStatus[]> {
      const reached = await sql.query<{ id: string }>(idsReached, idsReached.values(scopeParameters(key)));
      return statuses(reached.map(({ id }) => id));
    },

    /** Lists those locations of a company that are in the scope of an API key. */
    ofCompany(key: AuthenticatedKey, companyId: string): PagedList<Location> {
      return {
        page: async (page) =>
          (await locationsOfCompany.page({ ownerId: companyId, key, ...page }))?.rows ?? [],
        count: () => locationsOfCompany.count({ ownerId: companyId, key }),
      };
    },

    /**
     * Returns the current occupancy of a location.
     *
     * @throws {ServiceError} `NOT_FOUND` when the location no longer exists
     */
    async status(id: string): Promise<LocationStatus> {
      const [status] = await statuses([id]);
      if (!status) throw locationNotFound(id);
      return status;
    },
  };
}
