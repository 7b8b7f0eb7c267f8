import type { Location } from '../../prisma/generated/client/client.ts';
import { recordChange } from '../audit/record.ts';
import type { Author } from '../auth/key.ts';
import { owningCompany } from '../companies/owning-company.ts';
import { databaseNow } from '../database/clock.ts';
import { isUniqueViolation } from '../database/violations.ts';
import { ServiceError, versionConflict } from '../errors/error-table.ts';
import { newId } from '../ids.ts';
import { applyLongestStay } from '../parking/longest-stay.ts';
import { lockLocation } from '../location-access/lock.ts';
import { announceState, locationState } from '../parking/occupancy.ts';
import type { LocationChangeServices } from '../location-access/change-services.ts';

type Optional<Value> = Value | null | undefined;

/** The fields of a new location. */
export type LocationValues = Pick<Location, 'name' | 'slug'> & {
  /**
   * The company that will own the location. The client may omit the company when exactly one company is in the key's
   * scope.
   */
  companyId?: Optional<string>;
  address?: Optional<string>;
  description?: Optional<string>;
  capacity?: Optional<number>;
  /** The IANA name of the time zone; `UTC` when omitted. */
  timezone?: Optional<string>;
  /**
   * The maximum length of a stay in hours. After this time, a vehicle no longer counts as inside. When omitted, stays
   * are unlimited.
   */
  longestStayHours?: Optional<number>;
};

/**
 * The changed fields of a location. A field that is undefined stays unchanged. null clears a field that can be null,
 * and leaves any other field unchanged.
 */
export type LocationChanges = {
  [Field in keyof Omit<LocationValues, 'companyId'>]?: Optional<LocationValues[Field]>;
};

/** The functions that write locations to one database. */
export type LocationWrites = ReturnType<typeof createLocationWrites>;

/** Creates the functions that write locations. */
export function createLocationWrites({
  prisma,
  locations,
  locationSlots,
  statusNotices,
}: LocationChangeServices) {
  return {
    /**
     * Creates a location.
     *
     * @throws {ServiceError} `CONFLICT` when the company already has a location with the slug, and the errors of
     *   `owningCompany`
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
     * Changes the given fields of a location. After a change of the capacity or of the maximum stay, the location can
     * be full or have free places again.
     *
     * @param expectedVersion the version that the location must still have; when omitted, any version is accepted
     * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope, `CONFLICT` when the location has
     *   another version or the company has another location with the slug, `RATE_LIMIT_EXCEEDED` when too many changes
     *   of the location are waiting
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
      const location = await locationSlots.run(id, change).catch(slugTaken(slug));
      statusNotices.publish(id);
      return location;
    },
  };
}

/**
 * Returns an error handler. It throws `CONFLICT` if another location of the company already uses the slug, and throws
 * any other error unchanged.
 */
function slugTaken(slug: Optional<string>) {
  return (error: unknown): never => {
    if (!isUniqueViolation(error, 'location_company_slug_unique')) throw error;
    throw new ServiceError('CONFLICT', 'Location slug already exists in this company', {
      field: 'slug',
      value: slug,
    });
  };
}
