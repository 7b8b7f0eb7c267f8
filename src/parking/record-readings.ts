import type { ParkingEvent, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { recordChanges } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import type { Author } from '../auth/key.ts';
import { databaseNow } from '../database/clock.ts';
import { columnArrays } from '../database/columns.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { newId } from '../ids.ts';
import { lockLocation } from '../location-access/lock.ts';
import { announceState } from './occupancy.ts';
import { countEntries, type EventChange, isSameEntry } from './count-entries.ts';
import { eventColumns, knownEvents, writeEvents } from './event-statements.ts';
import { type ExceededQuota, startQuotaCount } from './quota-count.ts';
import { refreshSessions } from './refresh-sessions.ts';
import { findNamedEntries, hasPlate, matchEntries, matchOf, plateOf, type Reading } from './match-entries.ts';

/** A recorded parking event, and whether the event is new, corrected or unchanged. */
interface RecordedReading {
  event: ParkingEvent;
  outcome: 'recorded' | 'unchanged' | 'corrected';
  /**
   * Whether the event may have changed the number of entries that a pass (a whitelist entry with `maxEntries`) still
   * allows. If `mayChangePass` is true, the caller notifies the clients that watch the whitelist.
   */
  mayChangePass: boolean;
}

/**
 * Records parking events of one location, and updates the parking sessions and the state of the location. If a parking
 * event equals an already recorded event, nothing changes and no audit record is written. The function locks the
 * location until the transaction ends.
 *
 * The function `recordReadings` always records the first of the given parking events, and usually records all events.
 * The quota check of an event can require that the gateway first computes the sessions again
 * (`QuotaCount.isOutdatedFor`). In this case, the function stops before this event. If `recordReadings` stops before it
 * has recorded all parking events, the caller must record the remaining parking events in another transaction. The
 * field `overQuota` of each event therefore has the same value as after a separate request for each event. Each
 * transaction locks the location only for a short time.
 *
 * @returns a list with one result for each recorded event, in the order of the given events (`sent`)
 * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
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
  const unchanged = (event: ParkingEvent): RecordedReading => ({
    event,
    outcome: 'unchanged',
    mayChangePass: false,
  });
  if (changing.size === 0) return readings.map(({ eventId }) => unchanged(events.get(eventId)!));

  const matches = await matchEntries(
    transaction,
    locationId,
    readings.filter(({ eventId }) => changing.has(eventId)),
  );
  const now = await databaseNow(transaction);
  const quotaCount = await startQuotaCount(transaction, location, {
    entries: quotaEntriesOf(readings, matches),
    isBatch: readings.length > 1,
    observedFrom: new Date(Math.min(...readings.map(({ occurredAt }) => occurredAt.getTime()))),
    now,
  });
  const changes: EventChange[] = [];
  const exceeded: ExceededQuota[] = [];
  const recorded: RecordedReading[] = [];
  for (const reading of readings) {
    const { eventId, kind, occurredAt, decision } = reading;
    const before = events.get(eventId);
    if (before && isSame(before, reading)) {
      recorded.push(unchanged(before));
      continue;
    }
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
    if (quotaCount.isOutdatedFor({ before, after })) break;
    const overQuota = quotaCount.count({ before, after });
    if (overQuota) exceeded.push(overQuota);
    // A correction that keeps the kind `ENTRY` and the whitelist entry of a parking event does not change `overQuota`.
    after.overQuota = overQuota !== null || (isSameEntry(before, after) && before.overQuota);
    events.set(eventId, after);
    changes.push({ before, after });
    const isPass = (matches.get(reading)?.maxEntries ?? null) !== null;
    recorded.push({
      event: after,
      outcome: before ? 'corrected' : 'recorded',
      mayChangePass: before !== undefined || (kind === 'ENTRY' && isPass),
    });
  }

  // If the caller sends an event several times with different values, the function writes only the values that come
  // last for this event.
  const written = new Map(changes.map(({ after }) => [after.id, after]));
  await queryInTransaction(transaction, writeEvents, columnArrays(eventColumns, [...written.values()]));
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

/** Returns a map from each `eventId` to the parking event that is already recorded with this `eventId`. */
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
 * Removes the id of the whitelist entry from a parking event if the location has no whitelist entry with this id. If
 * the gate sends a recorded event again without changes, the event keeps the id of its whitelist entry, even after the
 * whitelist entry was deleted.
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
 * Returns the whitelist entries that match the given parking events. If no event of the kind `ENTRY` matches a
 * whitelist entry, the returned list is empty, because only an event of the kind `ENTRY` can exceed a quota.
 */
const quotaEntriesOf = (
  readings: readonly Reading[],
  matches: ReadonlyMap<Reading, WhitelistEntry>,
): WhitelistEntry[] =>
  readings.some((reading) => reading.kind === 'ENTRY' && matches.has(reading))
    ? [...new Map([...matches.values()].map((entry) => [entry.id, entry])).values()]
    : [];

/** Whether an event from a gate equals the event that is already recorded under the same `eventId`. */
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
