import type { Context } from '../src/context.ts';
import type { LocationState as LocationStateName } from '../src/locations/occupancy.ts';
import type { LocationStatus as Status } from '../src/locations/reads.ts';
import { builder } from './builder.ts';
import { Location } from './location.ts';

const LocationState = builder.enumType('LocationState', {
  description: 'Whether a location has room.',
  values: {
    AVAILABLE: { description: 'There is room.' },
    FULL: { description: 'Every place is taken.' },
    UNKNOWN: { description: 'The capacity is unknown.' },
  } satisfies Record<LocationStateName, unknown>,
});

export const LocationStatus = builder.objectRef<Status>('LocationStatus').implement({
  description: 'How full a location is now.',
  fields: (t) => ({
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    slug: t.exposeString('slug', { description: 'Slug of the location.' }),
    name: t.exposeString('name', { description: 'Name of the location.' }),
    state: t.expose('state', { type: LocationState, description: 'Whether there is room.' }),
    capacity: t.exposeInt('capacity', {
      nullable: true,
      description: 'How many vehicles fit; null when unknown.',
    }),
    occupied: t.exposeInt('occupied', {
      description: 'How many vehicles are inside: the open sessions and `adjustment`.',
    }),
    adjustment: t.exposeInt('adjustment', {
      description:
        'How many vehicles are inside that no session knows, by `adjustOccupancy`; below 0 when so many open sessions have no vehicle.',
    }),
    available: t.exposeInt('available', {
      nullable: true,
      description: 'How many places are free, never below 0; null when the capacity is unknown.',
    }),
    whitelistedVehicles: t.exposeInt('whitelistedVehicles', {
      description: 'How many entries the whitelist has.',
    }),
    lastActivityAt: t.expose('lastActivityAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a vehicle last entered or left; null when none has.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description:
        'When the status last changed: the latest of the last activity, the last count and the last change of the location.',
    }),
  }),
});

/** The status of a location that the key reaches. */
export async function findStatus(locationId: string, { key, locations }: Context): Promise<Status> {
  const { id } = await locations.find(key, locationId);
  return locations.status(id);
}

builder.objectField(Location, 'status', (t) =>
  t.field({
    type: LocationStatus,
    permission: 'READ_STATUS',
    description: 'How full the location is now.',
    resolve: ({ id }, _, { locations }) => locations.status(id),
  }),
);

builder.subscriptionField('locationStatusChanged', (t) =>
  t.field({
    type: LocationStatus,
    permission: 'READ_STATUS',
    description:
      'The status of a location: at first as it is, and then each time that a vehicle enters, leaves or counts as gone, that vehicles are counted or the location changes. Changes that follow each other fast may come as one.',
    args: { locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }) },
    subscribe: async (_, { locationId }, { key, locations, statusNotices }) =>
      statusNotices.watch((await locations.find(key, locationId)).id, { presentFirst: true }),
    resolve: (_, { locationId }, context) => findStatus(locationId, context),
  }),
);

builder.queryFields((t) => ({
  locationStatuses: t.field({
    type: [LocationStatus],
    permission: 'READ_STATUS',
    complexity: { field: 200, multiplier: 100 },
    description: 'The status of every location that the key reaches, oldest location first.',
    resolve: (_, __, { key, locations }) => locations.allStatuses(key),
  }),
  locationStatus: t.field({
    type: LocationStatus,
    permission: 'READ_STATUS',
    description: 'The status of one location; for keys that may read the status but not locations.',
    args: { locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }) },
    resolve: (_, { locationId }, context) => findStatus(locationId, context),
  }),
}));
