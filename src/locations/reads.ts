import { type Location, Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { modelColumns } from '../database/columns.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import { namedStatement } from '../database/named-statement.ts';
import { prismaList } from '../database/prisma-list.ts';
import { isOfCompanies } from '../database/of-companies.ts';
import { createRowsById, createStatementBatch } from '../database/statement-batch.ts';
import type { Database } from '../database/types.ts';
import {
  companiesOfReach,
  locationScope,
  reachable,
  reachesCompany,
  scopeCondition,
  scopeParameters,
} from '../auth/scope.ts';
import { companyForbidden, locationNotFound } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import type { PagedList } from '../pages.ts';
import {
  freePlaces,
  locationState,
  occupancyColumns,
  occupiedOf,
  type OccupancyParts,
  type Room,
} from './occupancy.ts';

/** The locations of questions that carry the companies of their key. */
const locationsOfQuestions = namedStatement(
  'locations-of-questions',
  `
    SELECT q.n::int, ${modelColumns(Prisma.LocationScalarFieldEnum, 'l')}
    FROM unnest($id::text[], $ofCompanies::text[]) WITH ORDINALITY AS q(id, "ofCompanies", n)
    JOIN "Location" l ON l.id = q.id AND ${isOfCompanies('l."companyId"')}`,
);

const idsReached = namedStatement(
  'location-ids-reached',
  `SELECT l.id FROM "Location" l WHERE ${scopeCondition('l')} ORDER BY l.id`,
);

interface StatusRow
  extends OccupancyParts, Pick<Location, 'id' | 'slug' | 'name' | 'capacity' | 'updatedAt'> {
  whitelistedVehicles: number;
  lastActivityAt: Date | null;
  lastCountedAt: Date | null;
}

const statusesById = namedStatement(
  'location-statuses-by-id',
  `
    SELECT l.id, l.slug, l.name, l.capacity, l."updatedAt",
      ${occupancyColumns('l.id')},
      (SELECT max(e."occurredAt") FROM "ParkingEvent" e WHERE e."locationId" = l.id) AS "lastActivityAt",
      (SELECT max(c."countedAt") FROM "OccupancyCount" c WHERE c."locationId" = l.id) AS "lastCountedAt",
      (SELECT count(*) FROM "WhitelistEntry" w WHERE w."locationId" = l.id)::int AS "whitelistedVehicles"
    FROM "Location" l WHERE l.id = ANY($ids::text[])`,
);

/** How full a location is now. */
export type LocationStatus = ReturnType<typeof statusOf>;

/** All of a status at once: the graph shows the statuses of a hundred locations in one answer, field by field. */
function statusOf(row: StatusRow) {
  const { capacity, adjustment, lastActivityAt, lastCountedAt } = row;
  const room: Room = { capacity, occupied: occupiedOf(row) };
  return {
    locationId: row.id,
    slug: row.slug,
    name: row.name,
    state: locationState(room),
    capacity,
    occupied: room.occupied,
    adjustment,
    available: freePlaces(room),
    whitelistedVehicles: row.whitelistedVehicles,
    lastActivityAt,
    updatedAt: [lastActivityAt, lastCountedAt].reduce<Date>(
      (latest, other) => (other && other > latest ? other : latest),
      row.updatedAt,
    ),
  };
}

/** The reads of locations over one database. */
export type LocationReads = ReturnType<typeof createLocationReads>;

/** Prepares the reads of locations. Those that nested fields repeat are joined in one turn of the event loop. */
export function createLocationReads({ prisma, sql, kind }: Pick<Database, 'prisma' | 'sql' | 'kind'>) {
  const findReached = createStatementBatch<
    { id: string; ofCompanies: string | null },
    Location & { n: number },
    Location | undefined
  >(sql, {
    statementOf: () => locationsOfQuestions,
    parametersOf: (questions) => ({
      id: questions.map(({ id }) => id),
      ofCompanies: questions.map(({ ofCompanies }) => ofCompanies),
    }),
    answerOf: ([location]) => location,
    keyOf: ({ id, ofCompanies }) => `${id} ${ofCompanies ?? '*'}`,
  });
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
     * The locations that a key reaches, of one company if there is one.
     *
     * @throws {ServiceError} `FORBIDDEN` for a company that the key may not see
     */
    reachedBy(key: AuthenticatedKey, companyId?: string | null): PagedList<Location> {
      if (companyId && !(isId(companyId) && reachesCompany(key, companyId)))
        throw companyForbidden(companyId);
      return prismaList(prisma.location, { AND: [locationScope(key), companyId ? { companyId } : {}] });
    },

    /** The status of every location that a key reaches, oldest location first. */
    async allStatuses(key: AuthenticatedKey): Promise<LocationStatus[]> {
      const reached = await sql.query<{ id: string }>(idsReached, idsReached.values(scopeParameters(key)));
      return statuses(reached.map(({ id }) => id));
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
      const found = isId(id) ? await findReached({ id, ofCompanies: companiesOfReach(key, id) }) : undefined;
      return reachable(key, id, found);
    },

    /**
     * How full a location is now.
     *
     * @throws {ServiceError} `NOT_FOUND` when the location is gone
     */
    async status(id: string): Promise<LocationStatus> {
      const [status] = await statuses([id]);
      if (!status) throw locationNotFound(id);
      return status;
    },
  };
}
