import { type SessionState, sessionState } from '../src/parking/derive-sessions.ts';
import { builder } from './builder.ts';
import { Location, locationIdArg } from './location.ts';
import { keysetConnection } from './pagination.ts';
import { entryOf } from './parking-event.ts';
import { WhitelistEntry } from './whitelist.ts';

const ParkingSessionState = builder.enumType('ParkingSessionState', {
  description: 'The state of a parking session. The state depends on which events of the stay were recorded.',
  values: {
    OPEN: { description: 'The vehicle is inside.' },
    COMPLETED: { description: 'The vehicle entered and left.' },
    MISSED_EXIT: {
      description: 'The exit of the vehicle was not recorded, but the vehicle entered again later.',
    },
    MISSED_ENTRY: { description: 'The vehicle left, but its entry was not recorded.' },
    UNSEEN_EXIT: {
      description:
        'The maximum stay of the vehicle is over, and its exit was not recorded. If a gate later records the exit of the vehicle, the exit still belongs to this session.',
    },
    CORRECTED: {
      description:
        'The gateway ended the session, because the vehicle was missing in a count of the vehicles inside (`setInside`).',
    },
  } satisfies Record<SessionState, unknown>,
});

const ParkingSession = builder.prismaObject('ParkingSession', {
  description:
    'A stay of a vehicle. The gateway derives the stay from parking events and counts, in the order of their times. When an event arrives late or is corrected, the gateway corrects the sessions of the vehicle. If a gate records the exit of a plate that is not inside, and exactly one open session has a plate that differs by one character that cameras confuse, the exit ends this open session.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description:
        'Identifier of the session: the identifier of the event that starts the session, or the identifier of the vehicle in a count.',
    }),
    location: t.field({
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'The location of the stay.',
      resolve: ({ locationId }, _, { key, services: { locations } }) => locations.find(key, locationId),
    }),
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    plateType: t.exposeString('plateType', { description: 'The authority or region that issued the plate.' }),
    plateCode: t.exposeString('plateCode', { description: 'Code of the plate.' }),
    plateNumber: t.exposeString('plateNumber', { description: 'Number of the plate.' }),
    state: t.field({
      type: ParkingSessionState,
      description: 'The state of the stay.',
      resolve: sessionState,
    }),
    open: t.exposeBoolean('open', { description: 'Whether the vehicle is inside.' }),
    enteredAt: t.expose('enteredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the vehicle entered; null when the entry was not recorded.',
    }),
    countedAt: t.expose('countedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time of the count (`setInside`) that found the vehicle inside without a recorded entry; null for a session that began with an event.',
    }),
    exitedAt: t.expose('exitedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the vehicle left; null when the vehicle is inside, or when the exit was not recorded.',
    }),
    staysUntil: t.expose('staysUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the maximum stay of the vehicle ends. After `staysUntil`, the vehicle no longer counts as inside. Null when the location has no maximum stay. When the maximum stay of the location changes, sessions that have already ended may keep their previous `staysUntil`.',
    }),
    listed: t.exposeBoolean('listed', {
      description:
        'Whether a whitelist entry allowed the vehicle to enter. The gateway sets `listed` when it records the first event of the session.',
    }),
    entry: t.field({
      type: WhitelistEntry,
      nullable: true,
      permission: 'READ_WHITELIST',
      description:
        'The whitelist entry of the vehicle. Null when the vehicle had no whitelist entry, or when the entry was removed.',
      resolve: (session, _, context) => entryOf(session, context),
    }),
  }),
});

const ParkingSessionConnection = builder.connectionObject(
  { type: ParkingSession, name: 'ParkingSessionConnection', description: 'A page of parking sessions.' },
  { name: 'ParkingSessionEdge', description: 'A session with its cursor in the list.' },
);

const openDescription =
  'True for vehicles that are inside, false for vehicles that are not inside. If omitted, all sessions are returned.';

builder.objectField(Location, 'sessions', (t) =>
  t.connection(
    {
      type: ParkingSession,
      permission: 'READ_ACTIVITY',
      description: 'The sessions of the location, most recently recorded first.',
      args: { open: t.arg.boolean({ description: openDescription }) },
      resolve: ({ id }, { open, ...args }, { key, services: { parking } }) =>
        keysetConnection(args, parking.sessionsOf(key, id, open), { newestFirst: true }),
    },
    ParkingSessionConnection,
  ),
);

builder.queryField('parkingSessions', (t) =>
  t.connection(
    {
      type: ParkingSession,
      permission: 'READ_ACTIVITY',
      description:
        'The sessions of a location, most recently recorded first. Unlike `Location.sessions`, `parkingSessions` does not need the permission `READ_LOCATIONS`.',
      args: {
        locationId: t.arg.id(locationIdArg),
        open: t.arg.boolean({ description: openDescription }),
      },
      resolve: (_, { locationId, open, ...args }, { key, services: { parking } }) =>
        keysetConnection(args, parking.sessionsOf(key, locationId, open), { newestFirst: true }),
    },
    ParkingSessionConnection,
  ),
);
