import { type ParkingEvent, Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { recordChanges } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import type { Author } from '../auth/key.ts';
import { databaseNow } from '../database/clock.ts';
import { columnList, modelColumns } from '../database/columns.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { newId } from '../ids.ts';
import { lockLocation } from '../location-access/lock.ts';
import { announceState } from './occupancy.ts';
import { countEntries, type EventChange, isSameEntry } from './count-entries.ts';
import { type ExceededQuota, startQuotaCount } from './quota-count.ts';
import { refreshSessions } from './refresh-sessions.ts';
import { findNamedEntries, hasPlate, matchEntries, matchOf, plateOf, type Reading } from './match-entries.ts';

/**
 * A recorded event, and what the recording did: it created the event, corrected an earlier event, or changed nothing.
 */
interface RecordedReading {
  event: ParkingEvent;
  outcome: 'recorded' | 'unchanged' | 'corrected';
}

/** The columns of a parking event, with their types in PostgreSQL. */
const eventColumnTypes = {
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

const columns = Object.keys(eventColumnTypes) as (keyof ParkingEvent)[];

/** SQL for the columns of events as array parameters. An enum is sent as text. */
const columnArrays = columnList(columns, (_, column) => {
  const type = eventColumnTypes[column];
  return type.startsWith('"') ? `$${column}::text[]::${type}[]` : `$${column}::${type}[]`;
});

/** Writes new and corrected parking events to the database. */
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
 * Records events of the gates at one location one after the other, and updates the sessions and the state of the
 * location. If an event equals an already recorded event, nothing changes and no audit record is written. The location
 * stays locked until the transaction ends.
 *
 * @returns the result for each event, in their order
 * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope
 */
export async function recordReadings(
  transaction: Transaction,
  author: Author,
  locationId: string,
  sent: readonly Reading[],
): Promise<RecordedReading[]> {
  const location = await lockLocation(transaction, locationId, author.key);
  const events = await eventsOf(transaction, locationId, sent);
  const named = await findNamedEntries(transaction, locationId, sent);
  const readings = sent.map((reading) => withKnownEntry(reading, events.get(reading.eventId), named));
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
    // If a correction keeps the whitelist entry of an event, `overQuota` keeps the value from the first recording.
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

/** Returns the events that are already recorded, by their `eventId`. */
async function eventsOf(
  transaction: Transaction,
  locationId: string,
  readings: readonly Reading[],
): Promise<Map<string, ParkingEvent>> {
  const eventIds = readings.map(({ eventId }) => eventId);
  const rows = await queryInTransaction<ParkingEvent>(transaction, knownEvents, { locationId, eventIds });
  return new Map(rows.map((event) => [event.eventId, event]));
}

/**
 * Removes the id of the named whitelist entry from an event if the location has no such entry. A repeated event keeps
 * the id, because the entry may have been deleted after the first recording.
 */
function withKnownEntry(
  reading: Reading,
  event: ParkingEvent | undefined,
  named: ReadonlySet<string>,
): Reading {
  const { entryId } = reading;
  if (!entryId || named.has(entryId)) return reading;
  if (event?.whitelistEntryId === entryId && isSame(event, reading)) return reading;
  return { ...reading, entryId: null };
}

/**
 * Returns the ids of the whitelist entries of events if at least one of the events is the entry of a listed vehicle.
 * Otherwise the result is empty, because only an entry can exceed a quota.
 */
const entryIdsOf = (readings: readonly Reading[], matches: ReadonlyMap<Reading, WhitelistEntry>): string[] =>
  readings.some((reading) => reading.kind === 'ENTRY' && matches.has(reading))
    ? [...new Set([...matches.values()].map(({ id }) => id))]
    : [];

/** Returns the SQL parameters for many events. Each parameter is an array with the values of one column. */
const arraysOf = (events: readonly ParkingEvent[]) =>
  Object.fromEntries(columns.map((column) => [column, events.map((event) => event[column])]));

/** Whether a recorded event equals an event that a gate sends now. This happens when the gate repeats an event. */
function isSame(event: ParkingEvent | undefined, reading: Reading): boolean {
  const { kind, occurredAt, decision, entryId } = reading;
  return (
    event?.kind === kind &&
    hasPlate(event, reading) &&
    event.occurredAt.getTime() === occurredAt.getTime() &&
    event.decision === (decision ?? null) &&
    (!entryId || event.whitelistEntryId === entryId)
  );
}
