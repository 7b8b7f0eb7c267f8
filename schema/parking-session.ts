import { type SessionState, sessionState } from '../src/parking/derive-sessions.ts';
import { builder } from './builder.ts';
import { Location } from './location.ts';
import { keysetConnection } from './pagination.ts';
import { entryOf } from './parking-event.ts';
import { WhitelistEntry } from './whitelist.ts';

const ParkingSessionState = builder.enumType('ParkingSessionState', {
  description: 'How far a stay is known.',
  values: {
    OPEN: { description: 'The vehicle is inside.' },
    COMPLETED: { description: 'The vehicle came and left.' },
    MISSED_EXIT: { description: 'The vehicle entered again, so it had left; nobody saw when.' },
    MISSED_ENTRY: { description: 'The vehicle left; nobody saw it enter.' },
    UNSEEN_EXIT: {
      description:
        'The longest stay of the location is over, and nobody saw the vehicle leave. An exit of its plate that comes later completes the session.',
    },
    CORRECTED: { description: 'A count of the vehicles inside did not find it (`setInside`).' },
  } satisfies Record<SessionState, unknown>,
});

const ParkingSession = builder.prismaObject('ParkingSession', {
  description:
    'A stay of a vehicle. Sessions follow from the events alone, sorted by when they occurred: late and corrected events correct the sessions. An exit of a plate that is not inside ends the only open session whose plate differs from it by one character that cameras confuse.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description:
        'Identifier of the session: that of the event that starts it, or of the vehicle in a count.',
    }),
    location: t.field({
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'Where the vehicle is or was.',
      resolve: ({ locationId }, _, { key, locations }) => locations.find(key, locationId),
    }),
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    plateType: t.exposeString('plateType', { description: 'Issuing authority or region of the plate.' }),
    plateCode: t.exposeString('plateCode', { description: 'Code of the plate.' }),
    plateNumber: t.exposeString('plateNumber', { description: 'Number of the plate.' }),
    state: t.field({ type: ParkingSessionState, description: 'How far it is known.', resolve: sessionState }),
    open: t.exposeBoolean('open', { description: 'Whether the vehicle is inside.' }),
    enteredAt: t.expose('enteredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the vehicle entered; null when nobody saw it.',
    }),
    countedAt: t.expose('countedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When a count found the vehicle inside, whose entry nobody had seen (`setInside`); null otherwise.',
    }),
    exitedAt: t.expose('exitedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the vehicle left; null when it is inside, or when nobody saw it.',
    }),
    staysUntil: t.expose('staysUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the longest stay of the location is over for it, so that it counts as gone; null when the location has none.',
    }),
    listed: t.exposeBoolean('listed', {
      description:
        'Whether the whitelist let the vehicle in when the event that starts the session was recorded.',
    }),
    entry: t.field({
      type: WhitelistEntry,
      nullable: true,
      permission: 'READ_WHITELIST',
      description: 'The whitelist entry of the vehicle; null when it has none, or none any more.',
      resolve: (session, _, context) => entryOf(session, context),
    }),
  }),
});

const ParkingSessionConnection = builder.connectionObject(
  { type: ParkingSession, name: 'ParkingSessionConnection', description: 'A page of parking sessions.' },
  { name: 'ParkingSessionEdge', description: 'A session and its place in the list.' },
);

const openDescription =
  'Only sessions of vehicles that are inside, or only those of vehicles that are not; all when left out.';

builder.objectField(Location, 'sessions', (t) =>
  t.connection(
    {
      type: ParkingSession,
      permission: 'READ_ACTIVITY',
      description: 'Who is and who was inside, last recorded first.',
      args: { open: t.arg.boolean({ description: openDescription }) },
      resolve: ({ id }, { open, ...args }, { key, parking }) =>
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
        'Who is and who was inside of a location, last recorded first; for keys that may read activity but not locations.',
      args: {
        locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
        open: t.arg.boolean({ description: openDescription }),
      },
      resolve: (_, { locationId, open, ...args }, { key, parking }) =>
        keysetConnection(args, parking.sessionsOf(key, locationId, open), { newestFirst: true }),
    },
    ParkingSessionConnection,
  ),
);
