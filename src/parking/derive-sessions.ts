import type { CountedPlate, ParkingEvent, ParkingSession } from '../../prisma/generated/client/client.ts';
import type { Plate } from '../whitelist/plate.ts';
import { similarPlateMatcher, plateKey, sameTextMatcher, type RecordedPlate } from './vehicle-identity.ts';
import { createUnendedSessions } from './unended-sessions.ts';

// Parking sessions are computed from observations, which are gate events and counts. The order in which observations
// arrive does not matter, because they are sorted by the time at which they occurred. At the same time, entries come
// before exits, exits come before counts, and then `eventId` decides. This module reads neither the database nor a
// clock.

/** The columns of a gate event that the computation of sessions uses. */
export type GateObservation = Pick<
  ParkingEvent,
  'id' | 'eventId' | 'kind' | keyof Plate | 'text' | 'occurredAt' | 'whitelistEntryId' | 'listed'
>;

/** A count which says which vehicles were inside at a given time. */
export interface CountObservation {
  kind: 'INSIDE';
  occurredAt: Date;
  plates: readonly Omit<CountedPlate, 'countId'>[];
}

/** How much the gateway knows about the stay of a vehicle. */
export type SessionState =
  'OPEN' | 'COMPLETED' | 'MISSED_EXIT' | 'MISSED_ENTRY' | 'UNSEEN_EXIT' | 'CORRECTED';

/** Returns the state of a session. The state depends only on the times of the session. */
export function sessionState({
  open,
  enteredAt,
  exitedAt,
  endedAt,
  staysUntil,
  corrected,
}: ParkingSession): SessionState {
  if (open) return 'OPEN';
  if (exitedAt) return enteredAt ? 'COMPLETED' : 'MISSED_ENTRY';
  if (staysUntil && (!endedAt || staysUntil < endedAt)) return 'UNSEEN_EXIT';
  return corrected ? 'CORRECTED' : 'MISSED_EXIT';
}

/**
 * The input for computing the sessions of a family of plates. A family contains all plates at a location that cameras
 * may confuse with each other.
 */
interface SessionInput {
  locationId: string;
  /** The sessions that began before the first changed observation and had not ended at its time. */
  begun: readonly ParkingSession[];
  /** The text that a camera read for the vehicle of each session, by the id of the session. */
  texts: ReadonlyMap<string, string | null>;
  /** All observations since the first changed observation, in any order. */
  observations: readonly (GateObservation | CountObservation)[];
  /** The maximum length of a stay in milliseconds; null when stays are unlimited. */
  longestStayMs: number | null;
  now: Date;
}

/** The order of observations with the same time: entries, then exits, then counts. */
const kindOrder = { ENTRY: 0, EXIT: 1, INSIDE: 2 } as const satisfies Record<
  ParkingEvent['kind'] | CountObservation['kind'],
  number
>;

/**
 * Returns the `eventId` for the sort order. A count needs none, because a location has at most one count for the same
 * time.
 */
const eventIdOf = (observation: GateObservation | CountObservation) =>
  observation.kind === 'INSIDE' ? '' : observation.eventId;

const inOrder = (
  one: GateObservation | CountObservation,
  other: GateObservation | CountObservation,
): number =>
  one.occurredAt.getTime() - other.occurredAt.getTime() ||
  kindOrder[one.kind] - kindOrder[other.kind] ||
  (eventIdOf(one) < eventIdOf(other) ? -1 : 1);

/**
 * Returns the start of a session: the time at which the vehicle entered, was counted inside, or left without a recorded
 * entry.
 */
const startTimeOf = ({ enteredAt, countedAt, exitedAt }: ParkingSession) =>
  (enteredAt ?? countedAt ?? exitedAt)!;

const byPlate = (one: Plate, other: Plate) => (plateKey(one) < plateKey(other) ? -1 : 1);

/** Returns the only item of a list, or undefined when the list is empty or has several items. */
const onlyOf = <Item>(list: readonly Item[]): Item | undefined => (list.length === 1 ? list[0] : undefined);

const byStart = (one: ParkingSession, other: ParkingSession) =>
  startTimeOf(one).getTime() - startTimeOf(other).getTime();

/**
 * Computes sessions from observations. The result has the updated earlier sessions and the new sessions.
 *
 * - An entry begins a session. If the exit of an earlier session of the vehicle was not recorded, the entry also ends
 *   that session.
 * - An exit ends the session of its vehicle. If the vehicle has no session, the exit ends the only open session whose
 *   plate differs by one character that cameras confuse. Otherwise the exit becomes a new session with an unknown
 *   entry.
 * - The session of a vehicle is the session with its plate. If there is none, it is the only session with the same text
 *   (`sameTextMatcher`).
 * - A session is open for at most the maximum stay. A later exit of its vehicle still completes the session.
 * - A count ends the sessions of vehicles that it does not list, and begins a session for each listed vehicle without a
 *   session.
 */
export function deriveSessions({
  locationId,
  begun,
  texts,
  observations,
  longestStayMs,
  now,
}: SessionInput): ParkingSession[] {
  const sessions: ParkingSession[] = [];
  const unended = createUnendedSessions();

  function end(session: ParkingSession, at: Date, exitedAt: Date | null): void {
    Object.assign(session, { open: false, endedAt: at, exitedAt });
    unended.remove(session);
  }

  function begin(session: ParkingSession, text: string | null): void {
    const staysFrom = startTimeOf(session).getTime();
    session.staysUntil = longestStayMs === null ? null : new Date(staysFrom + longestStayMs);
    sessions.push(session);
    unended.add(session, text);
  }

  /**
   * Whether the maximum stay of a session was over before a given time. At exactly the end of the maximum stay, the
   * session still counts as open.
   */
  const isOverdue = ({ staysUntil }: ParkingSession, at: Date) => staysUntil !== null && staysUntil < at;

  /**
   * Returns the sessions that may belong to a vehicle: the session with its plate or, if there is none, the sessions
   * with the same text.
   */
  function sessionsOf(vehicle: RecordedPlate): ParkingSession[] {
    const own = unended.withPlate(vehicle);
    return own ? [own] : unended.matching(sameTextMatcher(vehicle));
  }

  /**
   * Returns the session that ends with an exit of a vehicle. The result is undefined when the entry of the vehicle was
   * not recorded.
   */
  function sessionEndedBy(exit: GateObservation): ParkingSession | undefined {
    const same = sessionsOf(exit);
    if (same.length > 0) return onlyOf(same);
    return onlyOf(
      unended.matching(similarPlateMatcher(exit)).filter((session) => !isOverdue(session, exit.occurredAt)),
    );
  }

  /** Creates a session of a vehicle. The times of the session are still empty. */
  const sessionOf = (vehicle: Omit<CountedPlate, 'countId'>): ParkingSession => {
    const { id, plateType, plateCode, plateNumber, whitelistEntryId, listed } = vehicle;
    return {
      ...{ id, locationId, plateType, plateCode, plateNumber, whitelistEntryId, listed },
      ...{ enteredAt: null, countedAt: null, exitedAt: null, endedAt: null, staysUntil: null },
      ...{ open: true, corrected: false },
    };
  };

  /** Applies a count to the sessions. Afterwards, exactly the vehicles that the count lists have open sessions. */
  function count({ occurredAt: at, plates }: CountObservation): void {
    for (const session of unended.all()) {
      if (isOverdue(session, at)) end(session, at, null);
    }
    const found = new Set(plates.flatMap((vehicle) => unended.withPlate(vehicle) ?? []));
    const unknown = plates.filter((vehicle) => !unended.withPlate(vehicle)).toSorted(byPlate);
    const unseen = unknown.filter((vehicle) => {
      const session = onlyOf(sessionsOf({ ...vehicle, text: null }).filter((each) => !found.has(each)));
      if (session) found.add(session);
      return !session;
    });
    for (const session of unended.all()) {
      if (found.has(session)) continue;
      end(session, at, null);
      session.corrected = true;
    }
    for (const vehicle of unseen) begin({ ...sessionOf(vehicle), countedAt: at }, null);
  }

  for (const session of [...begun].sort(byStart)) {
    const going = { ...session, exitedAt: null, endedAt: null, open: true, corrected: false };
    begin(going, texts.get(session.id) ?? null);
  }
  for (const item of [...observations].sort(inOrder)) {
    const at = item.occurredAt;
    if (item.kind === 'INSIDE') count(item);
    else if (item.kind === 'ENTRY') {
      const earlier = onlyOf(sessionsOf(item));
      if (earlier) end(earlier, at, null);
      begin({ ...sessionOf(item), enteredAt: at }, item.text);
    } else {
      const session = sessionEndedBy(item);
      if (session) end(session, at, at);
      else sessions.push({ ...sessionOf(item), exitedAt: at, endedAt: at, open: false });
    }
  }
  for (const session of unended.all()) {
    session.open = !(session.staysUntil && session.staysUntil <= now);
  }
  return sessions;
}
