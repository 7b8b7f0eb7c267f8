import { type SessionState, sessionState } from '../src/parking/derive-sessions.ts';
import { builder } from './builder.ts';
import { Location } from './location.ts';
import { keysetConnection } from './pagination.ts';
import { entryOf } from './parking-event.ts';
import { WhitelistEntry } from './whitelist.ts';
import { identifier } from './rules.ts';

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
        'The maximum stay of the vehicle is over, and its exit was not recorded. If the gateway later records an exit of this plate, the exit belongs to this session.',
    },
    CORRECTED: { description: 'A count of the vehicles inside did not include this vehicle (`setInside`).' },
  } satisfies Record<SessionState, unknown>,
});

const ParkingSession = builder.prismaObject('ParkingSession', {
  description:
    'A stay of a vehicle. The gateway derives the stay from parking events and counts, in the order of their times. When an event arrives late or is corrected, the gateway corrects the sessions. If a gate records the exit of a plate that is not inside, the gateway looks for open sessions whose plate differs by one character that cameras confuse. If exactly one such session exists, the exit ends this session.',
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
        'The time of the count (`setInside`) that found the vehicle inside without a recorded entry; null for other sessions.',
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
        'The time at which the maximum stay ends. After `staysUntil`, the vehicle no longer counts as inside. Null when the location has no maximum stay. After a change of the maximum stay, a session that ended before `staysUntil` may keep its old value.',
    }),
    listed: t.exposeBoolean('listed', {
      description:
        'Whether the whitelist entry admitted the vehicle. The gateway sets `listed` when it records the first event of the session.',
    }),
    entry: t.field({
      type: WhitelistEntry,
      nullable: true,
      permission: 'READ_WHITELIST',
      description:
        'The whitelist entry of the vehicle. Null when the whitelist has no entry of the vehicle, or when the entry was removed.',
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
      description: 'The sessions of the location. The session that was recorded last comes first.',
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
        'The sessions of a location. The session that was recorded last comes first. Use this field if the key may read parking events and sessions but not locations.',
      args: {
        locationId: t.arg.id({
          required: true,
          description: 'Identifier of the location.',
          validate: identifier,
        }),
        open: t.arg.boolean({ description: openDescription }),
      },
      resolve: (_, { locationId, open, ...args }, { key, services: { parking } }) =>
        keysetConnection(args, parking.sessionsOf(key, locationId, open), { newestFirst: true }),
    },
    ParkingSessionConnection,
  ),
);
