import { type ParkingEvent, Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { recordChanges, type Transaction } from '../audit/record.ts';
import type { Author } from '../auth/key.ts';
import { databaseNow } from '../database/clock.ts';
import { columnList, modelColumns } from '../database/columns.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { newId } from '../ids.ts';
import { lockLocation } from '../locations/lock.ts';
import { announceState } from '../locations/occupancy.ts';
import { countEntries, type EventChange, isSameEntry } from './count-entries.ts';
import { type ExceededQuota, startQuotaCount } from './quota-count.ts';
import { refreshSessions } from './refresh-sessions.ts';
import { hasPlate, matchEntries, matchOf, plateOf, type Reading } from './seen-plate.ts';

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
  text: 'text',
  confidence: 'float8',
  occurredAt: 'timestamptz',
  decision: '"AccessReason"',
  whitelistEntryId: 'text',
  listed: 'boolean',
  overQuota: 'boolean',
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
  const countQuotas = await startQuotaCount(transaction, locationId, entryIdsOf(readings, matches));
  const changes: EventChange[] = [];
  const exceeded: ExceededQuota[] = [];
  const recorded = readings.map((reading): RecordedReading => {
    const { eventId, kind, occurredAt, decision } = reading;
    const before = events.get(eventId);
    if (before && isSame(before, reading)) return unchanged(before);
    const after: ParkingEvent = {
      id: before?.id ?? newId(),
      locationId,
      eventId,
      kind,
      ...plateOf(reading, matches.get(reading)),
      occurredAt,
      decision: decision ?? null,
      ...matchOf(reading, matches.get(reading), location.timezone),
      overQuota: false,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
    const overQuota = countQuotas({ before, after });
    if (overQuota) exceeded.push(overQuota);
    // A correction of the same entry keeps what was found when it was recorded.
    after.overQuota = overQuota !== null || (isSameEntry(before, after) && before.overQuota);
    events.set(eventId, after);
    changes.push({ before, after });
    return { event: after, outcome: before ? 'corrected' : 'recorded' };
  });

  const written = [...changing].map((eventId) => events.get(eventId)!);
  await queryInTransaction(transaction, writeEvents, arraysOf(written));
  await countEntries(transaction, locationId, changes);
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
  await recordChanges(
    transaction,
    author,
    exceeded.map((quota) => ({
      action: 'quota.exceeded' as const,
      targetId: quota.event.id,
      companyId: location.companyId,
      locationId,
      changes: quota,
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

/** The whitelist entries of readings, if a vehicle among them entered: nothing else can exceed a quota. */
const entryIdsOf = (readings: readonly Reading[], matches: ReadonlyMap<Reading, WhitelistEntry>): string[] =>
  readings.some((reading) => reading.kind === 'ENTRY' && matches.has(reading))
    ? [...new Set([...matches.values()].map(({ id }) => id))]
    : [];

/** The parameters of many events: for each column an array of its values. */
const arraysOf = (events: readonly ParkingEvent[]) =>
  Object.fromEntries(columns.map((column) => [column, events.map((event) => event[column])]));

/** Whether an event already says what a reading says, so that the gate sent it again. */
function isSame(event: ParkingEvent | undefined, seen: Reading): boolean {
  const { kind, occurredAt, decision, entryId } = seen;
  return (
    event?.kind === kind &&
    hasPlate(event, seen) &&
    event.occurredAt.getTime() === occurredAt.getTime() &&
    event.decision === (decision ?? null) &&
    (!entryId || event.whitelistEntryId === entryId)
  );
}
