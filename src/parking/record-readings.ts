import { type ParkingEvent, Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { recordChanges, type Transaction } from '../audit/record.ts';
import type { Author } from '../auth/key.ts';
import { databaseNow } from '../database/clock.ts';
import { columnList, modelColumns } from '../database/columns.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { newId } from '../ids.ts';
import { lockLocation } from '../locations/lock.ts';
import { announceState } from '../locations/occupancy.ts';
import { accessReason } from '../whitelist/access.ts';
import { entryColumns, samePlate } from '../whitelist/columns.ts';
import type { Plate } from '../whitelist/plate.ts';
import { refreshSessions } from './refresh-sessions.ts';

/** What a gate saw. */
export interface Reading extends Pick<ParkingEvent, 'eventId' | 'kind' | 'occurredAt'> {
  plate: Plate;
  /** What the gate was told before, if it asked. */
  decision?: ParkingEvent['decision'] | undefined;
  /** The whitelist entry that the gate let in; the entry of the plate when left out. */
  entryId?: string | null | undefined;
}

/** The event of a reading, and what the reading did: a new event, nothing, or another content of an event. */
interface RecordedReading {
  event: ParkingEvent;
  outcome: 'recorded' | 'unchanged' | 'corrected';
}

/** The columns of an event, with their types in PostgreSQL. */
const columnTypes = {
  id: 'text',
  locationId: 'text',
  eventId: 'text',
  kind: '"ParkingEventKind"',
  plateType: 'text',
  plateCode: 'text',
  plateNumber: 'text',
  occurredAt: 'timestamptz',
  decision: '"AccessReason"',
  whitelistEntryId: 'text',
  listed: 'boolean',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
} as const satisfies Record<keyof ParkingEvent, string>;

const columns = Object.keys(columnTypes) as (keyof ParkingEvent)[];

/** Each column as an array; an enum comes as text. */
const columnArrays = columnList(columns, (_, column) => {
  const type = columnTypes[column];
  return type.startsWith('"') ? `$${column}::text[]::${type}[]` : `$${column}::${type}[]`;
});

/** Writes new events, and the new content of events that are corrected. */
const writeEvents = namedStatement(
  'parking-events-write',
  `
  INSERT INTO "ParkingEvent" (${columnList(columns)})
  SELECT * FROM unnest(${columnArrays})
  ON CONFLICT (id) DO UPDATE SET ${columnList(columns, (quoted) => `${quoted} = excluded.${quoted}`)}`,
);

const knownEvents = namedStatement(
  'parking-events-known',
  `
  SELECT ${modelColumns(Prisma.ParkingEventScalarFieldEnum, 'e')} FROM "ParkingEvent" e
  WHERE e."locationId" = $locationId AND e."eventId" = ANY($eventIds::text[])`,
);

/** The whitelist entries that readings belong to: the one that the gate named, or that of the plate. */
const matchingEntries = namedStatement(
  'parking-matching-entries',
  `
  WITH q AS (
    SELECT * FROM unnest($entryId::text[], $plateType::text[], $plateCode::text[], $plateNumber::text[])
      WITH ORDINALITY AS q("entryId", "plateType", "plateCode", "plateNumber", n)
  )
  SELECT q.n::int, ${entryColumns('e')} FROM q
  JOIN "WhitelistEntry" e ON e."locationId" = $locationId AND ${samePlate('e', 'q')}
  WHERE q."entryId" IS NULL
  UNION ALL
  SELECT q.n::int, ${entryColumns('e')} FROM q
  JOIN "WhitelistEntry" e ON e."locationId" = $locationId AND e.id = q."entryId"`,
);

/**
 * Records what gates of one location saw, one reading after the other, and what follows from it: the sessions of the
 * plates, and whether the location is full. A reading that says what its event says already changes nothing, and
 * leaves no record. Locks the location until the transaction ends.
 *
 * @returns what became of each reading, in their order
 * @throws {ServiceError} `NOT_FOUND` for a location out of reach
 */
export async function recordReadings(
  transaction: Transaction,
  author: Author,
  locationId: string,
  readings: readonly Reading[],
): Promise<RecordedReading[]> {
  const location = await lockLocation(transaction, locationId, author.key);
  const events = await eventsOf(transaction, locationId, readings);
  const changing = new Set(
    readings.filter((reading) => !isSame(events.get(reading.eventId), reading)).map(({ eventId }) => eventId),
  );
  const unchanged = (event: ParkingEvent): RecordedReading => ({ event, outcome: 'unchanged' });
  if (changing.size === 0) return readings.map(({ eventId }) => unchanged(events.get(eventId)!));

  const matches = await matchEntries(
    transaction,
    locationId,
    readings.filter(({ eventId }) => changing.has(eventId)),
  );
  const now = await databaseNow(transaction);
  const changes: EventChange[] = [];
  const recorded = readings.map((reading): RecordedReading => {
    const { eventId, kind, plate, occurredAt, decision } = reading;
    const before = events.get(eventId);
    if (before && isSame(before, reading)) return unchanged(before);
    const after: ParkingEvent = {
      id: before?.id ?? newId(),
      locationId,
      eventId,
      kind,
      ...plate,
      occurredAt,
      decision: decision ?? null,
      ...matchOf(reading, matches.get(reading)),
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
    events.set(eventId, after);
    changes.push({ before, after });
    return { event: after, outcome: before ? 'corrected' : 'recorded' };
  });

  const written = [...changing].map((eventId) => events.get(eventId)!);
  await queryInTransaction(transaction, writeEvents, arraysOf(written));
  await recordChanges(
    transaction,
    author,
    changes.map(({ before, after }) => ({
      action: after.kind === 'ENTRY' ? 'parking.entered' : 'parking.exited',
      targetId: after.id,
      companyId: location.companyId,
      locationId,
      changes: before ? { before, after } : after,
    })),
  );
  await refreshSessions(
    transaction,
    author,
    location,
    changes.flatMap(({ before, after }) => (before ? [before, after] : [after])),
    now,
  );
  await announceState(transaction, author, location);
  return recorded;
}

/** An event as it was, if it was there, and as it is. */
interface EventChange {
  before: ParkingEvent | undefined;
  after: ParkingEvent;
}

/** The events that readings have recorded before, by their `eventId`. */
async function eventsOf(
  transaction: Transaction,
  locationId: string,
  readings: readonly Reading[],
): Promise<Map<string, ParkingEvent>> {
  const eventIds = readings.map(({ eventId }) => eventId);
  const rows = await queryInTransaction<ParkingEvent>(transaction, knownEvents, { locationId, eventIds });
  return new Map(rows.map((event) => [event.eventId, event]));
}

/** The whitelist entry of each reading that has one. */
export async function matchEntries(
  transaction: Transaction,
  locationId: string,
  readings: readonly Reading[],
): Promise<Map<Reading, WhitelistEntry>> {
  const rows = await queryInTransaction<WhitelistEntry & { n: number }>(transaction, matchingEntries, {
    locationId,
    entryId: readings.map(({ entryId }) => entryId || null),
    plateType: readings.map(({ plate }) => plate.plateType),
    plateCode: readings.map(({ plate }) => plate.plateCode),
    plateNumber: readings.map(({ plate }) => plate.plateNumber),
  });
  return new Map(rows.map(({ n, ...entry }) => [readings[n - 1]!, entry]));
}

/** What an event keeps of its whitelist entry: which it is, and whether it lets the vehicle in. */
export const matchOf = (
  { entryId, occurredAt }: Reading,
  entry: WhitelistEntry | undefined,
): Pick<ParkingEvent, 'whitelistEntryId' | 'listed'> => ({
  whitelistEntryId: entryId || (entry?.id ?? null),
  listed: accessReason(entry, occurredAt) === 'LISTED',
});

/** The parameters of many events: for each column an array of its values. */
const arraysOf = (events: readonly ParkingEvent[]) =>
  Object.fromEntries(columns.map((column) => [column, events.map((event) => event[column])]));

/** Whether an event already says what a reading says, so that the gate sent it again. */
function isSame(
  event: ParkingEvent | undefined,
  { kind, plate, occurredAt, decision, entryId }: Reading,
): boolean {
  return (
    event?.kind === kind &&
    event.plateType === plate.plateType &&
    event.plateCode === plate.plateCode &&
    event.plateNumber === plate.plateNumber &&
    event.occurredAt.getTime() === occurredAt.getTime() &&
    event.decision === (decision ?? null) &&
    (!entryId || event.whitelistEntryId === entryId)
  );
}
