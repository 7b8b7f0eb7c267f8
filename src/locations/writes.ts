import type { Location } from '../../prisma/generated/client/client.ts';
import { recordChange } from '../audit/record.ts';
import type { Author, WaitingAuthor } from '../auth/key.ts';
import { owningCompany } from '../companies/owning-company.ts';
import { databaseNow } from '../database/clock.ts';
import type { Connections } from '../database/types.ts';
import { isUniqueViolation } from '../database/violations.ts';
import { ServiceError, versionConflict } from '../errors/error-table.ts';
import { newId } from '../ids.ts';
import { applyLongestStay } from '../parking/longest-stay.ts';
import { lockLocation } from '../location-access/lock.ts';
import { announceState, locationState } from '../parking/occupancy.ts';
import type { LocationChangeServices } from '../location-access/change-services.ts';

type Optional<Value> = Value | null | undefined;

/** The fields of a new location that a client may omit. */
type OmittableField = 'companyId' | 'address' | 'description' | 'capacity' | 'timezone' | 'longestStayHours';

/**
 * The fields of a new location. The client may omit the company when exactly one company is in the scope of the API
 * key. The default time zone is `UTC`.
 */
export type LocationValues = Pick<Location, 'name' | 'slug'> & {
  [Field in OmittableField]?: Optional<Location[Field]>;
};

/**
 * The fields of a location that a client can change. If a field is undefined, the gateway does not change this field of
 * the location. The value null clears an optional field, and leaves a required field unchanged.
 */
export type LocationChanges = {
  [Field in keyof Omit<LocationValues, 'companyId'>]?: Optional<LocationValues[Field]>;
};

/** The functions that insert and change locations in the database. */
export type LocationWrites = ReturnType<typeof createLocationWrites>;

/** Creates the functions that insert and change locations in the database. */
export function createLocationWrites({
  prisma,
  heavy,
  locations,
  locationSlots,
  statusNotices,
  whitelistNotices,
}: LocationChangeServices & { heavy: Connections }) {
  return {
    /**
     * Creates a location.
     *
     * @throws {ServiceError} `CONFLICT` when the company already has a location with the same slug. `create` also
     *   throws the errors of `owningCompany`, because `owningCompany` checks the company of the new location
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
     * Changes the given fields of a location. A change of the capacity or of the maximum stay can change whether the
     * location is full.
     *
     * @param expectedVersion the version that the location must still have; if omitted, every version is accepted
     * @throws {ServiceError} `NOT_FOUND` for a location outside the scope of the API key
     * @throws {ServiceError} `CONFLICT` when the location does not have the expected version, or when another location
     *   of the company has the same slug
     * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many changes of the location are waiting, or when earlier
     *   changes take too long
     * @throws {ServiceError} `UNAUTHORIZED` or `FORBIDDEN` when the API key lost its access while the change waited for
     *   earlier changes
     */
    async update(
      author: WaitingAuthor,
      id: string,
      changes: LocationChanges,
      expectedVersion?: number | null,
    ): Promise<Location> {
      const { name, slug, timezone, ...nullable } = changes;
      await locations.find(author.key, id);
      // A new maximum stay can change all parking sessions of the location.
      const client = changes.longestStayHours === undefined ? prisma : heavy.prisma;
      const change = () =>
        client.$transaction(async (transaction) => {
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
      const location = await locationSlots.run(author, id, change).catch(slugTaken(slug));
      statusNotices.publish(id);
      // The whitelist feed contains the time zone of the location. When the time zone of a location changes, the
      // gateway therefore notifies the clients that watch the whitelist feed.
      if (timezone) whitelistNotices.publish(id);
      return location;
    },
  };
}

/**
 * Returns an error handler for changes of a location. If another location of the company already uses the same slug,
 * the error handler throws `CONFLICT`. The error handler throws all other errors unchanged.
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
