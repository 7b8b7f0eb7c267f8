import type { Location as LocationRow } from '../prisma/generated/client/client.ts';
import type { Context } from '../src/context.ts';
import {
  freePlaces,
  type LocationState as LocationStateName,
  locationState,
  occupiedOf,
  type Room,
} from '../src/locations/occupancy.ts';
import type { Occupancy } from '../src/locations/reads.ts';
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

interface Status extends Occupancy {
  location: LocationRow;
}

/** The room that the location of a status has. */
const roomOf = (status: Status): Room => ({
  capacity: status.location.capacity,
  occupied: occupiedOf(status),
});

export const LocationStatus = builder.objectRef<Status>('LocationStatus').implement({
  description: 'How full a location is now.',
  fields: (t) => ({
    locationId: t.id({ description: 'Identifier of the location.', resolve: ({ location }) => location.id }),
    slug: t.string({ description: 'Slug of the location.', resolve: ({ location }) => location.slug }),
    name: t.string({ description: 'Name of the location.', resolve: ({ location }) => location.name }),
    state: t.field({
      type: LocationState,
      description: 'Whether there is room.',
      resolve: (status) => locationState(roomOf(status)),
    }),
    capacity: t.int({
      nullable: true,
      description: 'How many vehicles fit; null when unknown.',
      resolve: ({ location }) => location.capacity,
    }),
    occupied: t.int({
      resolve: occupiedOf,
      description: 'How many vehicles are inside: the open sessions and `adjustment`.',
    }),
    adjustment: t.exposeInt('adjustment', {
      description:
        'How many vehicles are inside that no session knows, by `adjustOccupancy`; below 0 when so many open sessions have no vehicle.',
    }),
    available: t.int({
      nullable: true,
      description: 'How many places are free, never below 0; null when the capacity is unknown.',
      resolve: (status) => freePlaces(roomOf(status)),
    }),
    whitelistedVehicles: t.exposeInt('whitelistedVehicles', {
      description: 'How many entries the whitelist has.',
    }),
    lastActivityAt: t.expose('lastActivityAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a vehicle last entered or left; null when none has.',
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description:
        'When the status last changed: the latest of the last activity, the last count and the last change of the location.',
      resolve: ({ location: { updatedAt }, lastActivityAt, lastCountedAt }) =>
        [lastActivityAt, lastCountedAt].reduce<Date>(
          (latest, other) => (other && other > latest ? other : latest),
          updatedAt,
        ),
    }),
  }),
});

/** The status of a location; those of one turn of the event loop share a statement. */
async function statusOf(location: LocationRow, { locations }: Context): Promise<Status> {
  return { location, ...(await locations.occupancy(location.id)) };
}

/** The status of a location that the key reaches. */
export const findStatus = async (locationId: string, context: Context) =>
  statusOf(await context.locations.find(context.key, locationId), context);

builder.objectField(Location, 'status', (t) =>
  t.field({
    type: LocationStatus,
    permission: 'READ_STATUS',
    description: 'How full the location is now.',
    resolve: (location, _, context) => statusOf(location, context),
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
    resolve: async (_, __, context) => {
      const reached = await context.locations.allReachedBy(context.key);
      return Promise.all(reached.map((location) => statusOf(location, context)));
    },
  }),
  locationStatus: t.field({
    type: LocationStatus,
    permission: 'READ_STATUS',
    description: 'The status of one location; for keys that may read the status but not locations.',
    args: { locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }) },
    resolve: (_, { locationId }, context) => findStatus(locationId, context),
  }),
}));
