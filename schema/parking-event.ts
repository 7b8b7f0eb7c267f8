import { z } from 'zod';
import type { ParkingEvent as ParkingEventRow } from '../prisma/generated/client/client.ts';
import { AccessReason as reasons, ParkingEventKind as kinds } from '../prisma/generated/client/enums.ts';
import type { Context } from '../src/context.ts';
import type { Reading } from '../src/parking/match-entries.ts';
import { AccessReason, PlateInput } from './access.ts';
import { builder } from './builder.ts';
import { Location, locationIdArg } from './location.ts';
import { keysetConnection } from './pagination.ts';
import { hasOnePlate, onePlateMessage, plateReadingRule, ReadingInput } from './plate-reading.ts';
import { instant } from './instant.ts';
import { filledText, identifier, isObject } from './rules.ts';
import { plateRule, WhitelistEntry } from './whitelist.ts';

/** The maximum time by which the clock of a gate may be ahead of the gateway's clock: one day. */
const maxClockAheadMs = 24 * 3_600_000;

/** Validates the time at which a gate saw a vehicle. The time comes from the clock of the gate, which may be wrong. */
export const seenInstant = instant.refine(
  (value) => value.getTime() <= Date.now() + maxClockAheadMs,
  'Must not be more than a day in the future',
);

const maxEventIdLength = 100;

/** The validation rules of a parking event. */
export const parkingEventRule = z
  .object({
    eventId: filledText(maxEventIdLength, 'Event id must not be blank'),
    kind: z.enum(kinds),
    plate: plateRule.nullish(),
    reading: plateReadingRule.nullish(),
    occurredAt: seenInstant,
    decision: z.enum(reasons).nullish(),
    entryId: identifier.nullish(),
  })
  .refine(hasOnePlate, { path: ['plate'], message: onePlateMessage, when: isObject });

/**
 * Converts a valid parking event to the type `Reading`, which contains either the parts of the plate or the text that a
 * camera read.
 */
export const readingOf = ({ plate, reading, ...seen }: z.output<typeof parkingEventRule>): Reading =>
  reading ? { ...seen, reading } : { ...seen, plate: plate! };

const ParkingEventKind = builder.enumType(kinds, {
  name: 'ParkingEventKind',
  description: 'Whether a vehicle entered or left.',
  values: {
    ENTRY: { description: 'The vehicle entered.' },
    EXIT: { description: 'The vehicle left.' },
  },
});

const ParkingEvent = builder.prismaObject('ParkingEvent', {
  description: 'The entry or exit of a vehicle, as a gate recorded it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the event.' }),
    location: t.field({
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'The location to which the gate belongs.',
      resolve: ({ locationId }, _, { key, services: { locations } }) => locations.find(key, locationId),
    }),
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    eventId: t.exposeString('eventId', {
      description: 'The identifier that the gate gave to the parking event, unique within the location.',
    }),
    kind: t.expose('kind', { type: ParkingEventKind, description: 'Entry or exit.' }),
    plateType: t.exposeString('plateType', { description: 'The authority or region that issued the plate.' }),
    plateCode: t.exposeString('plateCode', { description: 'Code of the plate.' }),
    plateNumber: t.exposeString('plateNumber', {
      description:
        'Number of the plate. If the camera text matches no whitelist entry, `plateNumber` is the camera text in capital letters, without spaces, dashes and dots. If the camera text matches no whitelist entry, `plateCode` is empty. In this case, `plateType` is also empty, unless the camera sent the plate type.',
    }),
    text: t.exposeString('text', {
      nullable: true,
      description:
        'The text that the camera read, exactly as the gate sent it. `text` is null when the gate sent `plate` instead of `reading`.',
    }),
    confidence: t.exposeFloat('confidence', {
      nullable: true,
      description:
        'How confident the camera is that it read the plate correctly, from 0 to 1; null when unknown.',
    }),
    occurredAt: t.expose('occurredAt', {
      type: 'DateTime',
      description: 'The time at which the vehicle entered or left, according to the clock of the gate.',
    }),
    decision: t.expose('decision', {
      type: AccessReason,
      nullable: true,
      description:
        'The gate decision that the gate received from `plateAccess`; null when the gate did not report a decision.',
    }),
    listed: t.exposeBoolean('listed', {
      description:
        'Whether the whitelist had an entry that allowed the vehicle to enter at the time `occurredAt`. The gateway sets `listed` when it records the parking event; later changes of the whitelist do not change `listed`.',
    }),
    overQuota: t.exposeBoolean('overQuota', {
      description:
        'Whether the vehicle exceeded the quota of its reference (such as an apartment) when the gateway recorded this parking event.',
    }),
    entry: t.field({
      type: WhitelistEntry,
      nullable: true,
      permission: 'READ_WHITELIST',
      description:
        'The whitelist entry of the vehicle. `entry` is null when the vehicle had no whitelist entry, or when its whitelist entry was removed.',
      resolve: (event, _, context) => entryOf(event, context),
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time at which the gateway first recorded the parking event.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description:
        'The time at which the gateway recorded the last correction of the parking event. If the event was never corrected, the time is equal to `createdAt`.',
    }),
  }),
});

/**
 * Returns the whitelist entry of a parking event or parking session. Returns null if the parking event or parking
 * session has no whitelist entry, or if its whitelist entry no longer exists.
 */
export function entryOf(
  { locationId, whitelistEntryId }: Pick<ParkingEventRow, 'locationId' | 'whitelistEntryId'>,
  { services: { whitelist } }: Context,
) {
  return whitelistEntryId === null ? null : whitelist.entryOfLocation(locationId, whitelistEntryId);
}

const ParkingEventConnection = builder.connectionObject(
  { type: ParkingEvent, name: 'ParkingEventConnection', description: 'A page of parking events.' },
  {
    name: 'ParkingEventEdge',
    description: 'A parking event, and the cursor that marks its position in the list.',
  },
);

builder.objectField(Location, 'events', (t) =>
  t.connection(
    {
      type: ParkingEvent,
      permission: 'READ_ACTIVITY',
      description: 'The parking events of the location, most recently recorded first.',
      resolve: ({ id }, args, { key, services: { parking } }) =>
        keysetConnection(args, parking.eventsOf(key, id), { newestFirst: true }),
    },
    ParkingEventConnection,
  ),
);

builder.queryField('parkingEvents', (t) =>
  t.connection(
    {
      type: ParkingEvent,
      permission: 'READ_ACTIVITY',
      description:
        'The parking events of a location, most recently recorded first. Unlike `Location.events`, `parkingEvents` does not need the permission `READ_LOCATIONS`.',
      args: {
        locationId: t.arg.id(locationIdArg),
      },
      resolve: (_, { locationId, ...args }, { key, services: { parking } }) =>
        keysetConnection(args, parking.eventsOf(key, locationId), { newestFirst: true }),
    },
    ParkingEventConnection,
  ),
);

export const ParkingEventInput = builder.inputType('ParkingEventInput', {
  description: 'The entry or exit of a vehicle, which the gateway should record.',
  fields: (t) => ({
    eventId: t.string({
      required: true,
      description: `The identifier that the gate gave to the parking event, unique within the location, 1 to ${maxEventIdLength} characters. If the gate sends the same parking event again, nothing changes. If the gate sends other values with the same identifier, the gateway corrects the recorded parking event with these values.`,
    }),
    kind: t.field({ type: ParkingEventKind, required: true, description: 'Entry or exit.' }),
    plate: t.field({
      type: PlateInput,
      description:
        'The plate in parts. Every parking event must have either `plate` or `reading`, but not both.',
    }),
    reading: t.field({
      type: ReadingInput,
      description:
        'The text that the camera read. The gateway assigns the parking event to the whitelist entry that matches the camera text. If the camera text matches no whitelist entry or more than one whitelist entry, the gateway records the parking event without a whitelist entry.',
    }),
    occurredAt: t.field({
      type: 'DateTime',
      required: true,
      description:
        'The time at which the vehicle entered or left. Parking events may arrive late and in any order. `occurredAt` may be at most one day in the future.',
    }),
    decision: t.field({
      type: AccessReason,
      description: 'The gate decision that `plateAccess` returned, if the gate requested a decision.',
    }),
    entryId: t.id({
      description:
        'The whitelist entry for which the gate opened. If the camera misread a character, the plate of this whitelist entry differs from the plate of the parking event. If `entryId` is omitted, or the location has no such whitelist entry, the gateway uses the whitelist entry with the plate of the parking event.',
    }),
  }),
});

builder.mutationField('recordParkingEvent', (t) =>
  t.field({
    type: ParkingEvent,
    permission: 'WRITE_ACTIVITY',
    description:
      'Records that a vehicle entered or left, without deciding whether the vehicle may enter. A client can safely send the same parking event again. The gateway updates the status of the location immediately.',
    args: {
      locationId: t.arg.id(locationIdArg),
      input: t.arg({
        type: ParkingEventInput,
        required: true,
        description: 'The event.',
        validate: parkingEventRule,
      }),
    },
    resolve: (_, { locationId, input }, context) =>
      context.services.parking.recordEvent(context, locationId, readingOf(input)),
  }),
);
