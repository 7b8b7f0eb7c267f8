import { type Location, Prisma, type PrismaClient } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { modelColumns } from '../database/columns.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import { namedStatement } from '../database/named-statement.ts';
import { prismaList } from '../database/prisma-list.ts';
import { createRowById } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { locationScope, reachable, reachesCompany, scopeCondition, scopeParameters } from '../auth/scope.ts';
import { companyForbidden, locationNotFound } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import type { PagedList } from '../pages.ts';
import { occupancyColumns, type OccupancyParts } from './occupancy.ts';

const locationsById = namedStatement(
  'locations-by-id',
  `SELECT ${modelColumns(Prisma.LocationScalarFieldEnum, 'l')} FROM "Location" l WHERE l.id = ANY($ids::text[])`,
);

const locationsReached = namedStatement(
  'locations-reached',
  `SELECT ${modelColumns(Prisma.LocationScalarFieldEnum, 'l')} FROM "Location" l
    WHERE ${scopeCondition('l')} ORDER BY l.id`,
);

/** What fills a location now, in its own numbers. */
export interface Occupancy extends OccupancyParts {
  whitelistedVehicles: number;
  lastActivityAt: Date | null;
  lastCountedAt: Date | null;
}

const occupancies = namedStatement(
  'occupancies',
  `
    SELECT l.id,
      ${occupancyColumns('l.id')},
      (SELECT max(e."occurredAt") FROM "ParkingEvent" e WHERE e."locationId" = l.id) AS "lastActivityAt",
      (SELECT max(c."countedAt") FROM "OccupancyCount" c WHERE c."locationId" = l.id) AS "lastCountedAt",
      (SELECT count(*) FROM "WhitelistEntry" w WHERE w."locationId" = l.id)::int AS "whitelistedVehicles"
    FROM unnest($ids::text[]) AS l(id)`,
);

/** The reads of locations over one database. */
export type LocationReads = ReturnType<typeof createLocationReads>;

/** Prepares the reads of locations. Those that nested fields repeat are joined in one turn of the event loop. */
export function createLocationReads({ prisma, sql }: { prisma: PrismaClient; sql: Sql }) {
  const byId = createRowById<Location>(sql, locationsById);
  const occupancyById = createRowById<Occupancy & { id: string }>(sql, occupancies);
  const locationsOfCompany = createKeysetList<
    Location,
    { ownerId: string; key: AuthenticatedKey },
    AuthenticatedKey
  >(sql, {
    table: 'Location',
    fields: Prisma.LocationScalarFieldEnum,
    owner: { table: 'Company', column: 'companyId' },
    condition: scopeCondition('r'),
    sharedOf: ({ key }) => key,
    sharedParameters: scopeParameters,
  });

  return {
    /**
     * The locations that a key reaches, of one company if there is one.
     *
     * @throws {ServiceError} `FORBIDDEN` for a company that the key may not see
     */
    reachedBy(key: AuthenticatedKey, companyId?: string | null): PagedList<Location> {
      if (companyId && !(isId(companyId) && reachesCompany(key, companyId)))
        throw companyForbidden(companyId);
      return prismaList(prisma.location, { AND: [locationScope(key), companyId ? { companyId } : {}] });
    },

    /** Every location that a key reaches, oldest first. */
    allReachedBy(key: AuthenticatedKey): Promise<Location[]> {
      return sql.query<Location>(locationsReached, locationsReached.values(scopeParameters(key)));
    },

    /** The locations of a company that a key reaches. */
    ofCompany(key: AuthenticatedKey, companyId: string): PagedList<Location> {
      return {
        page: async (page) =>
          (await locationsOfCompany.page({ ownerId: companyId, key, ...page }))?.rows ?? [],
        count: () => locationsOfCompany.count({ ownerId: companyId, key }),
      };
    },

    /**
     * The location of an id that a client sent.
     *
     * @throws {ServiceError} `NOT_FOUND` for an unknown location and for one out of the key's reach
     */
    async find(key: AuthenticatedKey, id: string): Promise<Location> {
      return reachable(key, id, isId(id) ? await byId(id) : undefined);
    },

    /**
     * What fills a location now.
     *
     * @throws {ServiceError} `NOT_FOUND` when the location is gone
     */
    async occupancy(id: string): Promise<Occupancy> {
      const occupancy = await occupancyById(id);
      if (!occupancy) throw locationNotFound(id);
      return occupancy;
    },
  };
}
