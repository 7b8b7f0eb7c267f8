import { type SessionState, sessionState } from '../src/parking/derive-sessions.ts';
import { builder } from './builder.ts';
import { Location, locationIdArg } from './location.ts';
import { keysetConnection } from './pagination.ts';
import { entryOf } from './parking-event.ts';
import { WhitelistEntry } from './whitelist.ts';

const ParkingSessionState = builder.enumType('ParkingSessionState', {
  description:
    'The state of a parking session, which depends on the parking events that gates recorded during the stay.',
  values: {
    OPEN: { description: 'The vehicle is inside.' },
    COMPLETED: { description: 'The vehicle entered and left.' },
    MISSED_EXIT: {
      description: 'The exit of the vehicle was not recorded, but the vehicle entered again later.',
    },
    MISSED_ENTRY: { description: 'The vehicle left, but its entry was not recorded.' },
    UNSEEN_EXIT: {
      description:
        'The maximum stay of the vehicle is over, and its exit was not recorded. If a gate later records the exit of the vehicle, the exit still belongs to this parking session.',
    },
    CORRECTED: {
      description:
        'The gateway ended the parking session, because a count of the vehicles inside (`setInside`) did not include the vehicle.',
    },
  } satisfies Record<SessionState, unknown>,
});

const ParkingSession = builder.prismaObject('ParkingSession', {
  description:
    'A stay of a vehicle at a location. The gateway derives parking sessions from parking events and occupancy counts, in the order of their times. When a parking event arrives late or is corrected, the gateway corrects the parking sessions of the vehicle. At the exit, a camera may misread the plate. If no vehicle with the recorded plate is inside, the gateway looks for open parking sessions with a similar plate, which differs in one character that cameras confuse. If exactly one open parking session has a plate similar to the plate of the exit event, the exit ends this parking session.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description:
        'Identifier of the parking session. The identifier of a parking session equals the identifier of the parking event with which the session began. A session that began with an occupancy count instead has the identifier of the counted vehicle.',
    }),
    location: t.field({
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'The location at which the vehicle parks.',
      resolve: ({ locationId }, _, { key, services: { locations } }) => locations.find(key, locationId),
    }),
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    plateType: t.exposeString('plateType', { description: 'The authority or region that issued the plate.' }),
    plateCode: t.exposeString('plateCode', { description: 'Code of the plate.' }),
    plateNumber: t.exposeString('plateNumber', { description: 'Number of the plate.' }),
    state: t.field({
      type: ParkingSessionState,
      description: 'The state of the parking session.',
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
        'The time of the occupancy count (`setInside`) that found the vehicle inside although no entry was recorded; null for a parking session that began with a parking event.',
    }),
    exitedAt: t.expose('exitedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the vehicle left; null when the vehicle is inside, or when its exit was not recorded.',
    }),
    staysUntil: t.expose('staysUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the maximum stay of the vehicle ends. After `staysUntil`, the vehicle no longer counts as inside. `staysUntil` is null when the location has no maximum stay. When the maximum stay of the location changes, parking sessions that have already ended may keep their previous `staysUntil`.',
    }),
    listed: t.exposeBoolean('listed', {
      description:
        'Whether a whitelist entry allowed the vehicle to enter. The gateway sets `listed` when it records the first parking event of the parking session.',
    }),
    entry: t.field({
      type: WhitelistEntry,
      nullable: true,
      permission: 'READ_WHITELIST',
      description:
        'The whitelist entry of the vehicle. `entry` is null when the vehicle had no whitelist entry, or when its whitelist entry was removed.',
      resolve: (session, _, context) => entryOf(session, context),
    }),
  }),
});

const ParkingSessionConnection = builder.connectionObject(
  { type: ParkingSession, name: 'ParkingSessionConnection', description: 'A page of parking sessions.' },
  { name: 'ParkingSessionEdge', description: 'A parking session with its cursor in the list.' },
);

const openDescription =
  'True for vehicles that are inside, false for vehicles that are not inside. If omitted, all sessions are returned.';

builder.objectField(Location, 'sessions', (t) =>
  t.connection(
    {
      type: ParkingSession,
      permission: 'READ_ACTIVITY',
      description: 'The parking sessions of the location, most recently recorded first.',
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
        'The parking sessions of a location, most recently recorded first. Unlike `Location.sessions`, `parkingSessions` does not need the permission `READ_LOCATIONS`.',
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
