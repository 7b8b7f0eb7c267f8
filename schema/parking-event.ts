import { z } from 'zod';
import type { ParkingEvent as ParkingEventRow } from '../prisma/generated/client/client.ts';
import { AccessReason as reasons, ParkingEventKind as kinds } from '../prisma/generated/client/enums.ts';
import { recordChange, type Transaction } from '../src/audit.ts';
import type { Context } from '../src/context.ts';
import { locationNotFound } from '../src/errors.ts';
import { isId, newId } from '../src/ids.ts';
import { lockLocation } from '../src/location-lock.ts';
import { countInside, recordStateChange } from '../src/location-state.ts';
import { refreshSessions } from '../src/parking-sessions.ts';
import { AccessReason, accessReason, PlateInput } from './access.ts';
import { builder } from './builder.ts';
import { findLocation, Location } from './location.ts';
import { keysetConnection } from './pagination.ts';
import { filledText, instant } from './rules.ts';
import { plateRule, WhitelistEntry } from './whitelist.ts';

/** How far the clock of a gate may be ahead, in milliseconds: a day. */
const furthestAhead = 24 * 3_600_000;

const parkingEventRule = z.object({
  eventId: filledText(100, 'Event id must not be blank'),
  kind: z.enum(kinds),
  plate: plateRule,
  occurredAt: instant.refine(
    (value) => value.getTime() <= Date.now() + furthestAhead,
    'Must not be more than a day in the future',
  ),
  decision: z.enum(reasons).nullish(),
  entryId: z.string().refine(isId, 'Must be the identifier of a whitelist entry').nullish(),
});

const ParkingEventKind = builder.enumType(kinds, {
  name: 'ParkingEventKind',
  description: 'What a gate saw a vehicle do.',
  values: {
    ENTRY: { description: 'It drove in.' },
    EXIT: { description: 'It drove out.' },
  },
});

export const ParkingEvent = builder.prismaObject('ParkingEvent', {
  description: 'What a gate saw: a vehicle that entered or left.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the event.' }),
    location: t.field({
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'Where it happened.',
      resolve: ({ locationId }, _, context) => findLocation(locationId, context),
    }),
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    eventId: t.exposeString('eventId', {
      description: "The gate's own identifier, unique within the location.",
    }),
    kind: t.expose('kind', { type: ParkingEventKind, description: 'Entry or exit.' }),
    plateType: t.exposeString('plateType', { description: 'Issuing authority or region of the plate.' }),
    plateCode: t.exposeString('plateCode', { description: 'Code of the plate.' }),
    plateNumber: t.exposeString('plateNumber', { description: 'Number of the plate.' }),
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
  { activity }: Context,
) {
  return whitelistEntryId === null ? null : activity.entry({ locationId, id: whitelistEntryId });
}

const ParkingEventConnection = builder.connectionObject(
  { type: ParkingEvent, name: 'ParkingEventConnection', description: 'A page of parking events.' },
  { name: 'ParkingEventEdge', description: 'An event and its place in the list.' },
);

type PageArguments = Parameters<typeof keysetConnection>[0];

/** The events of a location that the key reaches. */
function eventConnection(locationId: string, args: PageArguments, { activity }: Context) {
  return keysetConnection(
    args,
    (page) => activity.events({ locationId, ...page }),
    () => activity.countEvents({ locationId }),
    { newestFirst: true },
  );
}

builder.objectField(Location, 'events', (t) =>
  t.connection(
    {
      type: ParkingEvent,
      permission: 'READ_ACTIVITY',
      description: 'What the gates saw, last recorded first.',
      resolve: ({ id }, args, context) => eventConnection(id, args, context),
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
      resolve: async (_, { locationId, ...args }, context) =>
        eventConnection((await findLocation(locationId, context)).id, args, context),
    },
    ParkingEventConnection,
  ),
);

const ParkingEventInput = builder.inputType('ParkingEventInput', {
  description: 'What a gate saw.',
  fields: (t) => ({
    eventId: t.string({
      required: true,
      description:
        "The gate's own identifier of the event, unique within the location, 1 to 100 characters: a resend changes nothing, and another reading under the same identifier corrects the earlier one.",
    }),
    kind: t.field({ type: ParkingEventKind, required: true, description: 'Entry or exit.' }),
    plate: t.field({ type: PlateInput, required: true, description: 'The plate.' }),
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

type Reading = z.output<typeof parkingEventRule>;

/** The whitelist entry that an event belongs to, and whether it lets the vehicle in. */
async function matchEntry(
  transaction: Transaction,
  locationId: string,
  { entryId, plate, occurredAt }: Reading,
): Promise<Pick<ParkingEventRow, 'whitelistEntryId' | 'listed'>> {
  const entry = await transaction.whitelistEntry.findFirst({
    where: { locationId, ...(entryId ? { id: entryId } : plate) },
  });
  return {
    whitelistEntryId: entryId ?? entry?.id ?? null,
    listed: accessReason(entry, occurredAt) === 'LISTED',
  };
}

/** Whether an event says already what a reading says: a resend. */
function isSame(event: ParkingEventRow, { kind, plate, occurredAt, decision, entryId }: Reading): boolean {
  return (
    event.kind === kind &&
    event.plateType === plate.plateType &&
    event.plateCode === plate.plateCode &&
    event.plateNumber === plate.plateNumber &&
    event.occurredAt.getTime() === occurredAt.getTime() &&
    event.decision === (decision ?? null) &&
    (!entryId || event.whitelistEntryId === entryId)
  );
}

/**
 * Records what a gate saw, and what follows from it: the sessions of the plate, and whether the location is
 * full. Events of one location are recorded one after the other.
 *
 * @returns the event, and whether anything changed
 * @throws {ServiceError} `NOT_FOUND` for a location out of reach
 */
function recordEvent(context: Context, locationId: string, reading: Reading) {
  const { eventId, kind, plate, occurredAt, decision } = reading;
  return context.prisma.$transaction(async (transaction) => {
    const location = await lockLocation(transaction, locationId, context.key);
    const key = { locationId_eventId: { locationId, eventId } };
    const earlier = await transaction.parkingEvent.findUnique({ where: key });
    if (earlier && isSame(earlier, reading)) return { event: earlier, changed: false };

    const occupiedBefore = await countInside(transaction, locationId);
    const match = await matchEntry(transaction, locationId, reading);
    const values = { kind, ...plate, occurredAt, decision: decision ?? null, ...match };
    const event = earlier
      ? await transaction.parkingEvent.update({ where: key, data: { ...values, updatedAt: new Date() } })
      : await transaction.parkingEvent.create({ data: { ...values, id: newId(), locationId, eventId } });
    if (earlier) await refreshSessions(transaction, earlier);
    await refreshSessions(transaction, event);

    await recordChange(transaction, context, {
      action: kind === 'ENTRY' ? 'parking.entered' : 'parking.exited',
      targetId: event.id,
      companyId: location.companyId,
      locationId,
      changes: earlier ? { before: earlier, after: event } : event,
    });
    const { capacity } = location;
    await recordStateChange(transaction, context, location, {
      before: { capacity, occupied: occupiedBefore },
      after: { capacity, occupied: await countInside(transaction, locationId) },
    });
    return { event, changed: true };
  });
}

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
    resolve: async (_, { locationId, input }, context) => {
      if (!isId(locationId)) throw locationNotFound(locationId);
      const { event, changed } = await recordEvent(context, locationId, input);
      if (changed) context.statusNotices.publish(locationId);
      return event;
    },
  }),
);
