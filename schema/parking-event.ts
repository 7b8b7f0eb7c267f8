import { z } from 'zod';
import type { ParkingEvent as ParkingEventRow } from '../prisma/generated/client/client.ts';
import { AccessReason as reasons, ParkingEventKind as kinds } from '../prisma/generated/client/enums.ts';
import type { Context } from '../src/context.ts';
import { isId } from '../src/ids.ts';
import type { Reading } from '../src/parking/seen-plate.ts';
import { AccessReason, PlateInput } from './access.ts';
import { builder } from './builder.ts';
import { Location } from './location.ts';
import { keysetConnection } from './pagination.ts';
import { hasOnePlate, onePlateMessage, plateReadingRule, ReadingInput } from './plate-reading.ts';
import { filledText, instant } from './rules.ts';
import { plateRule, WhitelistEntry } from './whitelist.ts';

/** How far the clock of a gate may be ahead of ours: a day. */
const maxClockAheadMs = 24 * 3_600_000;

/** When something was seen, by the clock of whoever saw it. */
export const seenInstant = instant.refine(
  (value) => value.getTime() <= Date.now() + maxClockAheadMs,
  'Must not be more than a day in the future',
);

/** The rules of what a gate saw. */
export const parkingEventRule = z
  .object({
    eventId: filledText(100, 'Event id must not be blank'),
    kind: z.enum(kinds),
    plate: plateRule.nullish(),
    reading: plateReadingRule.nullish(),
    occurredAt: seenInstant,
    decision: z.enum(reasons).nullish(),
    entryId: z.string().refine(isId, 'Must be the identifier of a whitelist entry').nullish(),
  })
  .refine(hasOnePlate, { path: ['plate'], message: onePlateMessage });

/** What a gate saw, with its plate in the one form that the rule leaves. */
export const readingOf = ({ plate, reading, ...seen }: z.output<typeof parkingEventRule>): Reading =>
  reading ? { ...seen, reading } : { ...seen, plate: plate! };

const ParkingEventKind = builder.enumType(kinds, {
  name: 'ParkingEventKind',
  description: 'What a gate saw a vehicle do.',
  values: {
    ENTRY: { description: 'It drove in.' },
    EXIT: { description: 'It drove out.' },
  },
});

const ParkingEvent = builder.prismaObject('ParkingEvent', {
  description: 'What a gate saw: a vehicle that entered or left.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the event.' }),
    location: t.field({
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'Where it happened.',
      resolve: ({ locationId }, _, { key, locations }) => locations.find(key, locationId),
    }),
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    eventId: t.exposeString('eventId', {
      description: "The gate's own identifier, unique within the location.",
    }),
    kind: t.expose('kind', { type: ParkingEventKind, description: 'Entry or exit.' }),
    plateType: t.exposeString('plateType', { description: 'Issuing authority or region of the plate.' }),
    plateCode: t.exposeString('plateCode', { description: 'Code of the plate.' }),
    plateNumber: t.exposeString('plateNumber', {
      description:
        'Number of the plate. Of a reading that fits no entry, it is the text as compared; code and type are then empty, but for a type that the camera sent.',
    }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'What the camera read, as it was sent; null for a plate in parts.',
    }),
    confidence: t.exposeFloat('confidence', {
      nullable: true,
      description: 'How sure the camera was, from 0 to 1; null when it did not say.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When the gate saw it.' }),
    decision: t.expose('decision', {
      type: AccessReason,
      nullable: true,
      description: 'What `plateAccess` had answered the gate; null when the gate does not say.',
    }),
    listed: t.exposeBoolean('listed', {
      description:
        'Whether the whitelist, as it was when the event was recorded, let the vehicle in at `occurredAt`.',
    }),
    overQuota: t.exposeBoolean('overQuota', {
      description:
        'Whether, when this entry was recorded, more vehicles of its reference were inside than their quota allows.',
    }),
    entry: t.field({
      type: WhitelistEntry,
      nullable: true,
      permission: 'READ_WHITELIST',
      description: 'The whitelist entry of the vehicle; null when it has none, or none any more.',
      resolve: (event, _, context) => entryOf(event, context),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the event was first recorded.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the event was last corrected.' }),
  }),
});

/** The whitelist entry that an event or a session was matched to, as far as it still is there. */
export function entryOf(
  { locationId, whitelistEntryId }: Pick<ParkingEventRow, 'locationId' | 'whitelistEntryId'>,
  { whitelist }: Context,
) {
  return whitelistEntryId === null ? null : whitelist.entryOfLocation(locationId, whitelistEntryId);
}

const ParkingEventConnection = builder.connectionObject(
  { type: ParkingEvent, name: 'ParkingEventConnection', description: 'A page of parking events.' },
  { name: 'ParkingEventEdge', description: 'An event and its place in the list.' },
);

builder.objectField(Location, 'events', (t) =>
  t.connection(
    {
      type: ParkingEvent,
      permission: 'READ_ACTIVITY',
      description: 'What the gates saw, last recorded first.',
      resolve: ({ id }, args, { key, parking }) =>
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
        'What the gates of a location saw, last recorded first; for keys that may read activity but not locations.',
      args: { locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }) },
      resolve: (_, { locationId, ...args }, { key, parking }) =>
        keysetConnection(args, parking.eventsOf(key, locationId), { newestFirst: true }),
    },
    ParkingEventConnection,
  ),
);

export const ParkingEventInput = builder.inputType('ParkingEventInput', {
  description: 'What a gate saw.',
  fields: (t) => ({
    eventId: t.string({
      required: true,
      description:
        "The gate's own identifier of the event, unique within the location, 1 to 100 characters: a resend changes nothing, and another reading under the same identifier corrects the earlier one.",
    }),
    kind: t.field({ type: ParkingEventKind, required: true, description: 'Entry or exit.' }),
    plate: t.field({
      type: PlateInput,
      description: 'The plate in its parts; exactly one of `plate` and `reading` is required.',
    }),
    reading: t.field({
      type: ReadingInput,
      description:
        'What the camera read, as one text. The event belongs to the entry that it means; one that means none, or several, is recorded all the same.',
    }),
    occurredAt: t.field({
      type: 'DateTime',
      required: true,
      description:
        'When it happened: events may come late and in any order, at most a day ahead of the clock.',
    }),
    decision: t.field({
      type: AccessReason,
      description: 'What `plateAccess` had answered, if the gate asked.',
    }),
    entryId: t.id({
      description:
        'The whitelist entry that the gate let in, such as one found with a tolerance; the entry of the plate when left out.',
    }),
  }),
});

builder.mutationField('recordParkingEvent', (t) =>
  t.field({
    type: ParkingEvent,
    permission: 'WRITE_ACTIVITY',
    description:
      'Records that a vehicle entered or left. Repeating it is harmless; the status follows at once. Whether the vehicle may enter is not asked: what happened is recorded.',
    args: {
      locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      input: t.arg({
        type: ParkingEventInput,
        required: true,
        description: 'What the gate saw.',
        validate: parkingEventRule,
      }),
    },
    resolve: (_, { locationId, input }, context) =>
      context.parking.recordEvent(context, locationId, readingOf(input)),
  }),
);
