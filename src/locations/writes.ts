import type { Location } from '../../prisma/generated/client/client.ts';
import { recordChange } from '../audit/record.ts';
import type { Author } from '../auth/key.ts';
import { owningCompany } from '../companies/owning-company.ts';
import { databaseNow } from '../database/clock.ts';
import { isUniqueViolation } from '../database/violations.ts';
import { ServiceError, versionConflict } from '../errors/error-table.ts';
import { newId } from '../ids.ts';
import { applyLongestStay } from '../parking/longest-stay.ts';
import { lockLocation } from './lock.ts';
import { announceState, locationState } from './occupancy.ts';
import type { LocationChangeServices } from './change-services.ts';

type Optional<Value> = Value | null | undefined;

/** What a client writes of a new location. */
export type LocationValues = Pick<Location, 'name' | 'slug'> & {
  /** The owner; may be left out when the key reaches exactly one company. */
  companyId?: Optional<string>;
  address?: Optional<string>;
  description?: Optional<string>;
  capacity?: Optional<number>;
  /** IANA name; `UTC` when left out. */
  timezone?: Optional<string>;
  /** After how many hours a vehicle counts as gone; never when left out. */
  longestStayHours?: Optional<number>;
};

/** What a client changes of a location: undefined leaves a field as it is, and so does null where null is no value. */
export type LocationChanges = {
  [Field in keyof Omit<LocationValues, 'companyId'>]?: Optional<LocationValues[Field]>;
};

/** The changes of locations in one database. */
export type LocationWrites = ReturnType<typeof createLocationWrites>;

/** Prepares the changes of locations. */
export function createLocationWrites({
  prisma,
  locations,
  locationTurns,
  statusNotices,
}: LocationChangeServices) {
  return {
    /**
     * Creates a location.
     *
     * @throws {ServiceError} `CONFLICT` when the company has a location with the slug, and what
     *   `owningCompany` throws
     */
    async create(author: Author, values: LocationValues): Promise<Location> {
      const companyId = await owningCompany(prisma, author.key, values.companyId, 'locations');
      return prisma
        .$transaction(async (transaction) => {
          const location = await transaction.location.create({
            data: {
              ...values,
              timezone: values.timezone ?? undefined,
              id: newId(),
              companyId,
              announcedFull: locationState({ capacity: values.capacity ?? null, occupied: 0 }) === 'FULL',
            },
          });
          await recordChange(transaction, author, {
            action: 'location.created',
            targetId: location.id,
            companyId,
            locationId: location.id,
            changes: location,
          });
          return location;
        })
        .catch(slugTaken(values.slug));
    },

    /**
     * Changes the fields that are given. A change of the capacity or of the longest stay may fill the location or make
     * room in it.
     *
     * @param expectedVersion the version that the location must still have; any when left out
     * @throws {ServiceError} `NOT_FOUND` for a location out of reach, `CONFLICT` when the location has another version
     *   and when the company has another location with the slug, `RATE_LIMIT_EXCEEDED` when too many changes of the
     *   location are waiting
     */
    async update(
      author: Author,
      id: string,
      changes: LocationChanges,
      expectedVersion?: number | null,
    ): Promise<Location> {
      const { name, slug, timezone, ...nullable } = changes;
      await locations.find(author.key, id);
      const change = () =>
        prisma.$transaction(async (transaction) => {
          const before = await lockLocation(transaction, id, author.key);
          if (typeof expectedVersion === 'number' && before.version !== expectedVersion)
            throw versionConflict(before.version);
          const now = await databaseNow(transaction);
          const after = await transaction.location.update({
            where: { id },
            data: {
              ...nullable,
              name: name ?? undefined,
              slug: slug ?? undefined,
              timezone: timezone ?? undefined,
              version: { increment: 1 },
              updatedAt: now,
            },
          });
          await recordChange(transaction, author, {
            action: 'location.updated',
            targetId: id,
            companyId: after.companyId,
            locationId: id,
            changes: { before, after },
          });
          if (after.longestStayHours !== before.longestStayHours)
            await applyLongestStay(transaction, author, { before, after }, now);
          await announceState(transaction, author, after);
          return after;
        });
      const location = await locationTurns.run(id, change).catch(slugTaken(slug));
      statusNotices.publish(id);
      return location;
    },
  };
}

/** Says which slug was taken when that is why a write failed, and passes other errors on. */
function slugTaken(slug: Optional<string>) {
  return (error: unknown): never => {
    if (!isUniqueViolation(error, 'location_company_slug_unique')) throw error;
    throw new ServiceError('CONFLICT', 'Location slug already exists in this company', {
      field: 'slug',
      value: slug,
    });
  };
}
