import type { CountedPlate, ParkingEvent, ParkingSession } from '../../prisma/generated/client/client.ts';
import type { Plate } from '../whitelist/plate.ts';
import { similarPlateMatcher, plateKey, sameTextMatcher, type RecordedPlate } from './vehicle-identity.ts';
import { createUnendedSessions } from './unended-sessions.ts';

// The gateway computes parking sessions from observations, which are parking events and occupancy counts. Observations
// (parking events and occupancy counts) may arrive in any order, because the gateway sorts them by the time at which
// they occurred. If observations have the same time, the gateway sorts them by kind (entries, exits, occupancy counts),
// and then by `eventId`. The functions of this module use neither the database nor a clock.

/** The columns of a parking event from which the gateway computes parking sessions. */
export type GateObservation = Pick<
  ParkingEvent,
  'id' | 'eventId' | 'kind' | keyof Plate | 'text' | 'occurredAt' | 'whitelistEntryId' | 'listed'
>;

/** An occupancy count with the plates of all vehicles that were inside at a given time. */
export interface CountObservation {
  kind: 'INSIDE';
  occurredAt: Date;
  plates: readonly Omit<CountedPlate, 'countId'>[];
}

/**
 * The state of a parking session. For example, the state is `MISSED_EXIT` if no gate recorded the exit of the vehicle.
 */
export type SessionState =
  'OPEN' | 'COMPLETED' | 'MISSED_EXIT' | 'MISSED_ENTRY' | 'UNSEEN_EXIT' | 'CORRECTED';

/** Returns the state of a parking session. The columns of the parking session determine its state. */
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
 * The data from which `deriveSessions` computes parking sessions. One call of `deriveSessions` computes only the
 * parking sessions of one location for plates with the same last characters: a plate group or a plate family. A plate
 * group contains all plates with the same last three characters. A plate family is the group of all plates whose last
 * two characters are the same (session-statements.ts). Characters that cameras confuse with each other, such as `0` and
 * `O`, count as the same character.
 */
interface SessionInput {
  locationId: string;
  /**
   * The parking sessions that were in progress when the earliest new or corrected observation occurred. An observation
   * is a parking event or an occupancy count.
   */
  begun: readonly ParkingSession[];
  /** Maps the id of each parking session to the plate text that a camera read for its vehicle. */
  texts: ReadonlyMap<string, string | null>;
  /**
   * The parking events and occupancy counts (observations) from which `deriveSessions` computes the sessions, in any
   * order. The list contains all observations at or after the time of the first new or corrected observation.
   */
  observations: readonly (GateObservation | CountObservation)[];
  /** The maximum length of a stay in milliseconds; null when stays are unlimited. */
  longestStayMs: number | null;
  now: Date;
}

/** The order of observations with the same time: entries, then exits, then occupancy counts. */
const kindOrder = { ENTRY: 0, EXIT: 1, INSIDE: 2 } as const satisfies Record<
  ParkingEvent['kind'] | CountObservation['kind'],
  number
>;

/**
 * Returns the `eventId` of a parking event, or an empty text for an occupancy count. If observations (parking events
 * and occupancy counts) have the same time and the same kind, the gateway sorts them by `eventId`. Occupancy counts
 * need no `eventId` for sorting, because a location has at most one occupancy count with plates for each time.
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
 * Returns the start time of a parking session. The session starts at the entry of the vehicle, or when an occupancy
 * count says that the vehicle is inside. If neither the entry nor an occupancy count is known, the session starts at
 * the recorded exit of the vehicle.
 */
const startTimeOf = ({ enteredAt, countedAt, exitedAt }: ParkingSession) =>
  (enteredAt ?? countedAt ?? exitedAt)!;

const byPlate = (one: Plate, other: Plate) => (plateKey(one) < plateKey(other) ? -1 : 1);

/** Returns the only item of a list, or `undefined` when the list is empty or has several items. */
const onlyOf = <Item>(list: readonly Item[]): Item | undefined => (list.length === 1 ? list[0] : undefined);

const byStart = (one: ParkingSession, other: ParkingSession) =>
  startTimeOf(one).getTime() - startTimeOf(other).getTime();

/**
 * Computes parking sessions from observations (parking events and occupancy counts). The result contains the sessions
 * in `begun` with their changed values, and the new sessions that the observations create.
 *
 * When a vehicle enters, a new session of the vehicle begins. If the vehicle already has a session without a recorded
 * exit, this earlier session ends.
 *
 * An exit ends the parking session of the vehicle that left. If this vehicle has no session, but exactly one open
 * session has a similar plate, the exit ends that session. A plate is similar to the plate of the vehicle if the plates
 * differ by one character that cameras confuse. If no parking session matches an exit, or if several match, the exit
 * creates a new session without a recorded entry.
 *
 * A parking session belongs to a vehicle if it has exactly the plate of the vehicle. If no session has the plate of the
 * vehicle, but exactly one open session has a camera text that matches the vehicle (`sameTextMatcher`), this session
 * belongs to the vehicle. If no open session has a camera text that matches the vehicle, the function searches the
 * sessions whose maximum stay is over. If exactly one of these sessions has a camera text that matches the vehicle,
 * this session belongs to the vehicle.
 *
 * A parking session is open no longer than the maximum stay of the location. If the vehicle leaves after the end of its
 * maximum stay, the exit still completes the session.
 *
 * An occupancy count with plates ends the open sessions of all vehicles that it does not contain. If the occupancy
 * count contains a vehicle without a session, a new session of the vehicle begins.
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
   * Whether the maximum stay of a session was over before a given time. At the exact end of its maximum stay, a session
   * still counts as open.
   */
  const isOverdue = ({ staysUntil }: ParkingSession, at: Date) => staysUntil !== null && staysUntil < at;

  /**
   * Returns the parking sessions that belong to a vehicle at a given time. If a parking session has exactly the
   * vehicle's plate, the result contains only this session. If no session has the plate of the vehicle, the result
   * contains all sessions whose camera text matches the vehicle (`sameTextMatcher`). If the camera text of an open
   * session matches the vehicle, the result contains no session whose maximum stay is over.
   */
  function sessionsOf(vehicle: RecordedPlate, at: Date): ParkingSession[] {
    const own = unended.withPlate(vehicle);
    if (own) return [own];
    const matching = unended.matching(sameTextMatcher(vehicle));
    const open = matching.filter((session) => !isOverdue(session, at));
    return open.length > 0 ? open : matching;
  }

  /** Returns the session that an exit ends, or `undefined` when no session or several sessions match the vehicle. */
  function sessionEndedBy(exit: GateObservation): ParkingSession | undefined {
    const same = sessionsOf(exit, exit.occurredAt);
    if (same.length > 0) return onlyOf(same);
    return onlyOf(
      unended.matching(similarPlateMatcher(exit)).filter((session) => !isOverdue(session, exit.occurredAt)),
    );
  }

  /**
   * Creates a new parking session for a vehicle. The caller must set the start and end times of the parking session.
   */
  const sessionOf = (vehicle: Omit<CountedPlate, 'countId'>): ParkingSession => {
    const { id, plateType, plateCode, plateNumber, whitelistEntryId, listed } = vehicle;
    return {
      ...{ id, locationId, plateType, plateCode, plateNumber, whitelistEntryId, listed },
      ...{ enteredAt: null, countedAt: null, exitedAt: null, endedAt: null, staysUntil: null },
      ...{ open: true, corrected: false },
    };
  };

  /**
   * Opens and ends parking sessions: after an occupancy count with plates, exactly the counted vehicles have open
   * sessions.
   */
  function count({ occurredAt: at, plates }: CountObservation): void {
    for (const session of unended.all()) {
      if (isOverdue(session, at)) end(session, at, null);
    }
    const found = new Set(plates.flatMap((vehicle) => unended.withPlate(vehicle) ?? []));
    const unknown = plates.filter((vehicle) => !unended.withPlate(vehicle)).toSorted(byPlate);
    const unseen = unknown.filter((vehicle) => {
      const session = onlyOf(sessionsOf({ ...vehicle, text: null }, at).filter((each) => !found.has(each)));
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
      const earlier = onlyOf(sessionsOf(item, at));
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
