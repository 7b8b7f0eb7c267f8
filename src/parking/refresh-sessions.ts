import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Location, ParkingSession } from '../../prisma/generated/client/client.ts';
import { type ChangeAuthor, recordChanges } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import { columnArrays } from '../database/columns.ts';
import { groupBy } from '../database/group-by.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { partsOf, partsWithin } from '../database/parts.ts';
import { updateOpenSessions } from './occupancy-statements.ts';
import type { Plate } from '../whitelist/plate.ts';
import { toConfusableForm } from '../whitelist/similar-plates.ts';
import {
  deriveSessions,
  type CountObservation,
  type GateObservation,
  sessionState,
} from './derive-sessions.ts';
import {
  type CountedRow,
  type EventRow,
  readObservations,
  readSessions,
  type StoredSession,
  writeSessions,
  writtenColumns,
} from './session-statements.ts';

const isEvent = (row: EventRow | CountedRow): row is EventRow => row.kind === 'ENTRY' || row.kind === 'EXIT';
const isCounted = (row: EventRow | CountedRow): row is CountedRow => row.kind === 'INSIDE';

/**
 * A plate whose parking sessions must be computed again. An observation of a plate is a parking event or an occupancy
 * count. `occurredAt` is the time from which the parking sessions of the plate may have changed.
 */
export interface ChangedPlate extends Plate {
  occurredAt: Date;
  /** The text that a camera read; omitted or null if the parking event or occupancy count has no camera text. */
  text?: string | null;
  /**
   * True if the gateway must recalculate the sessions of the whole plate family, and not only the sessions of the plate
   * group (`groupOf`). A plate family consists of all plates with the same last two characters (`familyOf`). The
   * default is false.
   */
  wholeFamily?: boolean;
}

/**
 * The values of a parking session before and after the gateway computed them again. For a new parking session, `before`
 * is `undefined`.
 */
interface SessionChange {
  before: ParkingSession | undefined;
  after: ParkingSession;
}

const msPerHour = 3_600_000;

/** Returns the maximum length of a stay at a location in milliseconds, or null when stays are unlimited. */
export const longestStayMsOf = ({ longestStayHours }: Location): number | null =>
  longestStayHours === null ? null : longestStayHours * msPerHour;

/**
 * The number of rows after which the computation of parking sessions yields to the event loop.
 */
const rowsPerYield = 500;

/**
 * The maximum number of changed plates whose parking sessions the gateway computes together. All changed plates of one
 * plate family (`familyOf`) are computed together, even if there are more.
 */
const platesPerPart = 200;

/** The maximum number of parking sessions that one SQL statement writes or removes. */
const sessionsPerStatement = 500;

// On the embedded database, gate decisions wait until the running SQL statement ends. The limits above make sure that
// an occupancy count of 10,000 vehicles consists of many short SQL statements.

/**
 * Computes the parking sessions of a location again after parking events or occupancy counts of the location have
 * changed. `refreshSessions` also writes an audit record for each vehicle that stayed longer than the maximum stay
 * without a recorded exit. Before the call, the caller must lock the location in `transaction`. Because this function
 * may change whether the location is full, the caller must call `announceState` afterwards. A parking session depends
 * only on the parking events and occupancy counts of similar plates (`groupOf`). The function therefore reads only the
 * parking events and occupancy counts of plates that are similar to a changed plate. A parking session stays unchanged
 * if it ended before the first changed parking event or occupancy count.
 *
 * @param location the location with its current values. If `transaction` has changed the location, `location` contains
 *   the new values
 * @param changed the changed parking events and occupancy counts, with their plates and times before and after the
 *   change
 * @param now the current time by the clock of the database
 * @returns the new and changed parking sessions
 */
export async function refreshSessions(
  transaction: Transaction,
  author: ChangeAuthor,
  location: Location,
  changed: readonly ChangedPlate[],
  now: Date,
): Promise<ParkingSession[]> {
  const families = [...groupBy(changed, familyKey).values()];
  const refreshed: ParkingSession[] = [];
  for (const part of partsWithin(platesPerPart, families, (plates) => plates.length)) {
    const sessions = await refreshPart(transaction, author, location, part.flat(), now);
    for (const session of sessions) refreshed.push(session);
  }
  return refreshed;
}

/** Returns a text that is the same for all plates of a plate family (`familyOf`). */
const familyKey = ({ plateCode, plateNumber }: Plate) =>
  toConfusableForm((plateCode + plateNumber).slice(-2));

/** Computes the parking sessions of some plate families again, see `refreshSessions`. */
async function refreshPart(
  transaction: Transaction,
  author: ChangeAuthor,
  location: Location,
  changed: readonly ChangedPlate[],
  now: Date,
): Promise<ParkingSession[]> {
  const { id: locationId } = location;
  const parameters = {
    locationId,
    plateCode: changed.map(({ plateCode }) => plateCode),
    plateNumber: changed.map(({ plateNumber }) => plateNumber),
    text: changed.map(({ text = null }) => text),
    occurredAt: changed.map(({ occurredAt }) => occurredAt),
    wholeFamily: changed.map(({ wholeFamily = false }) => wholeFamily),
  };
  const stored = await queryInTransaction<StoredSession>(transaction, readSessions, parameters);
  const before = new Map(
    stored.map(({ begun: _, group: __, text: ___, ...session }) => [session.id, session]),
  );
  const texts = new Map(stored.map(({ id, text }) => [id, text]));
  const rows = await queryInTransaction<EventRow | CountedRow>(transaction, readObservations, parameters);
  const observed = groupBy(rows, ({ group }) => group);
  const begun = groupBy(
    stored.filter((session) => session.begun),
    ({ group }) => group,
  );
  const sessions: ParkingSession[] = [];
  let rowsSinceYield = 0;
  for (const group of new Set([...begun.keys(), ...observed.keys()])) {
    const [begunRows, observationRows] = [begun.get(group) ?? [], observed.get(group) ?? []];
    rowsSinceYield += begunRows.length + observationRows.length;
    if (rowsSinceYield > rowsPerYield) {
      await nextIteration();
      rowsSinceYield = 0;
    }
    const derived = deriveSessions({
      locationId,
      begun: begunRows.map(({ id }) => before.get(id)!),
      texts,
      observations: observationsOf(observationRows),
      longestStayMs: longestStayMsOf(location),
      now,
    });
    for (const session of derived) sessions.push(session);
  }
  const changes = sessions
    .map((after): SessionChange => ({ before: before.get(after.id), after }))
    .filter((change) => !isSame(change));
  const refreshed = changes.map(({ after }) => after);
  const kept = new Set(sessions.map(({ id }) => id));
  const removed = [...before.keys()].filter((id) => !kept.has(id));
  const writes = [
    ...partsOf(removed, sessionsPerStatement).map((ids) => ({ sessions: [], removed: ids })),
    ...partsOf(refreshed, sessionsPerStatement).map((sessions) => ({ sessions, removed: [] })),
  ];
  // Each occupancy count stores the number of parking sessions that were open at the time of the count. This number of
  // open sessions can change only if a parking event or occupancy count with the same or an earlier time has changed.
  // `rows` contains every occupancy count whose number of open sessions can have changed.
  const hasCount = rows.some(({ kind }) => kind === 'NUMBER');
  for (const { sessions, removed } of writes) {
    const written = { ...columnArrays(writtenColumns, sessions), removed };
    if (hasCount) await queryInTransaction(transaction, updateOpenSessions, { ...written, locationId });
    await queryInTransaction(transaction, writeSessions, written);
  }
  await recordUnseenExits(transaction, author, location, changes);
  return refreshed;
}

/**
 * Converts the rows that the query returned to observations (parking events and occupancy counts). All rows belong to
 * plates with the same last characters (a plate group). An occupancy count can have several rows. The function combines
 * all rows of an occupancy count into one observation.
 */
function observationsOf(rows: readonly (EventRow | CountedRow)[]): (GateObservation | CountObservation)[] {
  const counts = groupBy(rows.filter(isCounted), ({ occurredAt }) => occurredAt.getTime());
  return [
    ...rows.filter(isEvent),
    ...[...counts.values()].map((counted): CountObservation => ({
      kind: 'INSIDE',
      occurredAt: counted[0]!.occurredAt,
      plates: counted.flatMap((row) => (row.id === null ? [] : [row])),
    })),
  ];
}

/** Writes an audit record for each vehicle that stayed longer than the maximum stay without a recorded exit. */
async function recordUnseenExits(
  transaction: Transaction,
  author: ChangeAuthor,
  { id: locationId, companyId }: Location,
  changes: readonly SessionChange[],
): Promise<void> {
  const isUnseen = (session: ParkingSession) => sessionState(session) === 'UNSEEN_EXIT';
  const unseen = changes.filter(({ before, after }) => isUnseen(after) && !(before && isUnseen(before)));
  if (unseen.length === 0) return;
  await recordChanges(
    transaction,
    author,
    unseen.map(({ after }) => ({
      action: 'parking.exit_unseen',
      targetId: after.id,
      companyId,
      locationId,
      changes: after,
    })),
  );
}

/** Whether the stored values and the newly computed values of a parking session are equal. */
const isSame = ({ before, after }: SessionChange) =>
  before !== undefined &&
  writtenColumns.every((column) => before[column]?.valueOf() === after[column]?.valueOf());
