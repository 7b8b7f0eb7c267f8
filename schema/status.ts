import { z } from 'zod';
import type { Context } from '../src/context.ts';
import type { LocationState as LocationStateName } from '../src/parking/occupancy.ts';
import type { LocationStatus as Status } from '../src/locations/reads.ts';
import { builder } from './builder.ts';
import { Location, locationIdArg } from './location.ts';
import { identifier } from './rules.ts';

const LocationState = builder.enumType('LocationState', {
  description: 'Whether a location has free spaces.',
  values: {
    AVAILABLE: { description: 'At least one parking space of the location is free.' },
    FULL: { description: 'Every space is taken.' },
    UNKNOWN: { description: 'The capacity is unknown.' },
  } satisfies Record<LocationStateName, unknown>,
});

export const LocationStatus = builder.objectRef<Status>('LocationStatus').implement({
  description: 'The current occupancy of a location.',
  fields: (t) => ({
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    slug: t.exposeString('slug', { description: 'Slug of the location.' }),
    name: t.exposeString('name', { description: 'Name of the location.' }),
    state: t.expose('state', { type: LocationState, description: 'Whether the location has free spaces.' }),
    capacity: t.exposeInt('capacity', {
      nullable: true,
      description: 'Number of parking spaces; null when unknown.',
    }),
    occupied: t.exposeInt('occupied', {
      description: 'Number of vehicles inside: the number of open parking sessions plus `adjustment`.',
    }),
    adjustment: t.exposeInt('adjustment', {
      description:
        'The difference between `occupied` and the number of open parking sessions. The mutation `adjustOccupancy` sets `adjustment`, and the mutation `setInside` sets `adjustment` to 0. If `adjustment` is positive, vehicles without a parking session are inside. If `adjustment` is negative, the vehicles of some open parking sessions have already left. Each exit of a vehicle that has no parking session brings a positive `adjustment` closer to 0. Each time a parking session ends for a vehicle that had already left, a negative `adjustment` moves closer to 0.',
    }),
    available: t.exposeInt('available', {
      nullable: true,
      description: 'Number of free spaces, never below 0; null when the capacity is unknown.',
    }),
    whitelistedVehicles: t.exposeInt('whitelistedVehicles', {
      description: 'Number of whitelist entries of the location.',
    }),
    lastActivityAt: t.expose('lastActivityAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which a vehicle last entered or left. `lastActivityAt` is null when no vehicle has entered or left yet.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description:
        'The time of the last change of the status: an entry or exit of a vehicle, an occupancy count, or a change of the location.',
    }),
  }),
});

/** Reads the current occupancy of a location, which must be in the scope of the API key. */
export async function findStatus(
  locationId: string,
  { key, services: { locations } }: Context,
): Promise<Status> {
  const { id } = await locations.find(key, locationId);
  return locations.status(id);
}

builder.objectField(Location, 'status', (t) =>
  t.field({
    type: LocationStatus,
    permission: 'READ_STATUS',
    description: 'The current occupancy of the location.',
    resolve: ({ id }, _, { services: { locations } }) => locations.status(id),
  }),
);

builder.subscriptionField('locationStatusChanged', (t) =>
  t.field({
    type: LocationStatus,
    permission: 'READ_STATUS',
    description:
      'Sends the status of a location immediately, and again after each change of the status. The status changes when a vehicle enters, leaves or reaches its maximum stay, after an occupancy count, and when the location is changed. After several changes in quick succession, the gateway may send only the latest status.',
    args: {
      locationId: t.arg.id(locationIdArg),
    },
    subscribe: async (_, { locationId }, { key, services: { locations, statusNotices } }) =>
      statusNotices.watch([(await locations.find(key, locationId)).id], { presentFirst: true }),
    resolve: (_, { locationId }, context) => findStatus(locationId, context),
  }),
);

/**
 * The maximum number of locations that a client can watch with one subscription. `maxWatchedLocations` equals the
 * maximum number of locations on one page.
 */
const maxWatchedLocations = 100;

const watchedLocations = z
  .array(identifier)
  .min(1, 'At least one location is required')
  .max(maxWatchedLocations, `At most ${maxWatchedLocations} locations are allowed`);

builder.subscriptionField('locationStatusesChanged', (t) =>
  t.field({
    type: LocationStatus,
    permission: 'READ_STATUS',
    description:
      'Sends the status of each given location immediately, and again after each change of the status. To follow only one location, use the subscription `locationStatusChanged`.',
    args: {
      locationIds: t.arg.idList({
        required: true,
        description: `Identifiers of the locations, 1 to ${maxWatchedLocations}.`,
        validate: watchedLocations,
      }),
    },
    async subscribe(_, { locationIds }, { key, services: { locations, statusNotices } }) {
      const found = await Promise.all(locationIds.map((locationId) => locations.find(key, locationId)));
      return statusNotices.watch(
        found.map(({ id }) => id),
        { presentFirst: true },
      );
    },
    resolve: (locationId, _, context) => findStatus(locationId, context),
  }),
);

builder.queryFields((t) => ({
  locationStatuses: t.field({
    type: [LocationStatus],
    permission: 'READ_STATUS',
    complexity: { field: 200, multiplier: 100 },
    description: 'The status of every location in the scope of the API key, oldest location first.',
    resolve: (_, __, { key, services: { locations } }) => locations.allStatuses(key),
  }),
  locationStatus: t.field({
    type: LocationStatus,
    permission: 'READ_STATUS',
    description:
      'The current occupancy of one location. Unlike `Location.status`, `locationStatus` does not need the permission `READ_LOCATIONS`.',
    args: {
      locationId: t.arg.id(locationIdArg),
    },
    resolve: (_, { locationId }, context) => findStatus(locationId, context),
  }),
}));
