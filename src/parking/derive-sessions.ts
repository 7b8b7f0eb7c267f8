import type { CountedPlate, ParkingEvent, ParkingSession } from '../../prisma/generated/client/client.ts';
import type { Plate } from '../whitelist/plate.ts';
import { misread, plateKey, sameText, type SeenPlate } from './misread-plate.ts';
import { createUnendedSessions } from './unended-sessions.ts';

// Sessions are a function of what was seen, in whatever order it arrived: sorted by the time at which it occurred (an
// entry before an exit of the same instant and both before a count, then by `eventId`). Nothing here reads the database or
// a clock.

/** What a gate saw, as far as sessions depend on it. */
export type SeenVehicle = Pick<
  ParkingEvent,
  'id' | 'eventId' | 'kind' | keyof Plate | 'text' | 'occurredAt' | 'whitelistEntryId' | 'listed'
>;

/** The vehicles that somebody counted inside at a time. */
export interface SeenInside {
  kind: 'INSIDE';
  occurredAt: Date;
  plates: readonly Omit<CountedPlate, 'countId'>[];
}

/** How far a stay is known. */
export type SessionState =
  'OPEN' | 'COMPLETED' | 'MISSED_EXIT' | 'MISSED_ENTRY' | 'UNSEEN_EXIT' | 'CORRECTED';

/** What the times of a session say of it. */
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

/** What the sessions of a family follow from: of all plates of a location that cameras may take for each other. */
interface Past {
  locationId: string;
  /** The sessions that had begun before, and that nothing had ended yet. */
  begun: readonly ParkingSession[];
  /** What a camera read of their vehicles, by the id of the session. */
  texts: ReadonlyMap<string, string | null>;
  /** Everything that was seen from then on, in any order. */
  seen: readonly (SeenVehicle | SeenInside)[];
  /** How long a vehicle stays at the most; null: for ever. */
  longestStayMs: number | null;
  now: Date;
}

/** Entries come before exits of the same instant, and both before a count. */
const kindOrder = { ENTRY: 0, EXIT: 1, INSIDE: 2 } as const satisfies Record<
  ParkingEvent['kind'] | SeenInside['kind'],
  number
>;

/** A location has one count of a time: only events need a further order. */
const eventIdOf = (seen: SeenVehicle | SeenInside) => (seen.kind === 'INSIDE' ? '' : seen.eventId);

const inOrder = (one: SeenVehicle | SeenInside, other: SeenVehicle | SeenInside): number =>
  one.occurredAt.getTime() - other.occurredAt.getTime() ||
  kindOrder[one.kind] - kindOrder[other.kind] ||
  (eventIdOf(one) < eventIdOf(other) ? -1 : 1);

/** When a session begins: the vehicle entered, was counted inside, or left without having been seen before. */
const startOf = ({ enteredAt, countedAt, exitedAt }: ParkingSession) => (enteredAt ?? countedAt ?? exitedAt)!;

const byPlate = (one: Plate, other: Plate) => (plateKey(one) < plateKey(other) ? -1 : 1);

/** The only one of a list; undefined when there is none, or several. */
const onlyOf = <Item>(list: readonly Item[]): Item | undefined => (list.length === 1 ? list[0] : undefined);

const byStart = (one: ParkingSession, other: ParkingSession) =>
  startOf(one).getTime() - startOf(other).getTime();

/**
 * The sessions that follow from what was seen: those that had begun, as they go on, and those that begin since.
 *
 * - An entry begins a session, and ends an earlier one of its vehicle whose exit nobody saw.
 * - An exit ends the session of its vehicle. When that is not inside, it ends the only open session whose plate differs by
 *   one character that cameras confuse. Otherwise it is a session of its own, whose entry nobody saw.
 * - The session of a vehicle is that of its plate, or else the only one with the same text (`sameText`).
 * - A session is open for the longest stay at the most. An exit of its vehicle that comes later still completes it.
 * - A count ends the sessions of vehicles that it did not find, and begins one for each that nobody had seen enter.
 */
export function deriveSessions({
  locationId,
  begun,
  texts,
  seen,
  longestStayMs,
  now,
}: Past): ParkingSession[] {
  const sessions: ParkingSession[] = [];
  const unended = createUnendedSessions();

  function end(session: ParkingSession, at: Date, exitedAt: Date | null): void {
    Object.assign(session, { open: false, endedAt: at, exitedAt });
    unended.remove(session);
  }

  function begin(session: ParkingSession, text: string | null): void {
    const staysFrom = startOf(session).getTime();
    session.staysUntil = longestStayMs === null ? null : new Date(staysFrom + longestStayMs);
    sessions.push(session);
    unended.add(session, text);
  }

  /** Whether the longest stay of a session was over before a time: what happens in that instant still finds it open. */
  const isOverdue = ({ staysUntil }: ParkingSession, at: Date) => staysUntil !== null && staysUntil < at;

  /** The sessions that a vehicle may have: that of its plate, or else those with the same text. */
  function sessionsOf(vehicle: SeenPlate): ParkingSession[] {
    const own = unended.of(vehicle);
    return own ? [own] : unended.like(sameText(vehicle));
  }

  /** The session that an exit ends; undefined when nobody saw the vehicle enter. */
  function leaving(exit: SeenVehicle): ParkingSession | undefined {
    const same = sessionsOf(exit);
    if (same.length > 0) return onlyOf(same);
    return onlyOf(unended.like(misread(exit)).filter((session) => !isOverdue(session, exit.occurredAt)));
  }

  /** A session of which only the vehicle is known. */
  const sessionOf = (vehicle: Omit<CountedPlate, 'countId'>): ParkingSession => {
    const { id, plateType, plateCode, plateNumber, whitelistEntryId, listed } = vehicle;
    return {
      ...{ id, locationId, plateType, plateCode, plateNumber, whitelistEntryId, listed },
      ...{ enteredAt: null, countedAt: null, exitedAt: null, endedAt: null, staysUntil: null },
      ...{ open: true, corrected: false },
    };
  };

  /** Makes the open sessions those of the vehicles that were counted. */
  function count({ occurredAt: at, plates }: SeenInside): void {
    for (const session of unended.all()) {
      if (isOverdue(session, at)) end(session, at, null);
    }
    const found = new Set(plates.flatMap((vehicle) => unended.of(vehicle) ?? []));
    const unknown = plates.filter((vehicle) => !unended.of(vehicle)).toSorted(byPlate);
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
  for (const item of [...seen].sort(inOrder)) {
    const at = item.occurredAt;
    if (item.kind === 'INSIDE') count(item);
    else if (item.kind === 'ENTRY') {
      const earlier = onlyOf(sessionsOf(item));
      if (earlier) end(earlier, at, null);
      begin({ ...sessionOf(item), enteredAt: at }, item.text);
    } else {
      const session = leaving(item);
      if (session) end(session, at, at);
      else sessions.push({ ...sessionOf(item), exitedAt: at, endedAt: at, open: false });
    }
  }
  for (const session of unended.all()) {
    session.open = !(session.staysUntil && session.staysUntil <= now);
  }
  return sessions;
}
