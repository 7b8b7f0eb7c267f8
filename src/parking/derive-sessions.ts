import type { CountedPlate, ParkingEvent, ParkingSession } from '../../prisma/generated/client/client.ts';
import type { Plate } from '../whitelist/plate.ts';
import { createMisreadTest, plateKey } from './misread-plate.ts';

// Sessions are a function of what was seen, in whatever order it arrived: sorted by the time at which it occurred (an
// entry before an exit of the same instant and both before a count, then by `eventId`). Nothing here reads the database or
// a clock.

/** What a gate saw, as far as sessions depend on it. */
export type SeenVehicle = Pick<
  ParkingEvent,
  'id' | 'eventId' | 'kind' | keyof Plate | 'occurredAt' | 'whitelistEntryId' | 'listed'
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

const byStart = (one: ParkingSession, other: ParkingSession) =>
  startOf(one).getTime() - startOf(other).getTime();

/**
 * The sessions that follow from what was seen: those that had begun, as they go on, and those that begin since.
 *
 * - An entry begins a session, and ends an earlier one of its plate whose exit nobody saw.
 * - An exit ends the session of its plate. When that plate is not inside, it ends the only open session whose plate
 *   differs by one character that cameras confuse. Otherwise it is a session of its own, whose entry nobody saw.
 * - A session is open for the longest stay at the most. An exit of its own plate that comes later still completes it.
 * - A count ends the sessions of vehicles that it did not find, and begins one for each that nobody had seen enter.
 */
export function deriveSessions({ locationId, begun, seen, longestStayMs, now }: Past): ParkingSession[] {
  const sessions: ParkingSession[] = [];
  /** The session of each plate that nothing has ended: it is open, or its longest stay is over. */
  const unended = new Map<string, ParkingSession>();

  function end(session: ParkingSession, at: Date, exitedAt: Date | null): void {
    Object.assign(session, { open: false, endedAt: at, exitedAt });
    unended.delete(plateKey(session));
  }

  function begin(session: ParkingSession): void {
    const start = startOf(session);
    const earlier = unended.get(plateKey(session));
    if (earlier) end(earlier, start, null);
    session.staysUntil = longestStayMs === null ? null : new Date(start.getTime() + longestStayMs);
    sessions.push(session);
    unended.set(plateKey(session), session);
  }

  /** Whether the longest stay of a session was over before a time: what happens in that instant still finds it open. */
  const isOverdue = ({ staysUntil }: ParkingSession, at: Date) => staysUntil !== null && staysUntil < at;

  /** The session that an exit ends; undefined when nobody saw the vehicle enter. */
  function leaving(exit: SeenVehicle): ParkingSession | undefined {
    const own = unended.get(plateKey(exit));
    if (own) return own;
    const isMisread = createMisreadTest(exit);
    const misread = [...unended.values()].filter(
      (session) => isMisread(session) && !isOverdue(session, exit.occurredAt),
    );
    return misread.length === 1 ? misread[0] : undefined;
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
    const counted = new Set(plates.map(plateKey));
    for (const session of [...unended.values()]) {
      const overdue = isOverdue(session, at);
      if (!overdue && counted.has(plateKey(session))) continue;
      end(session, at, null);
      session.corrected = !overdue;
    }
    for (const vehicle of plates) {
      if (!unended.has(plateKey(vehicle))) begin({ ...sessionOf(vehicle), countedAt: at });
    }
  }

  for (const session of [...begun].sort(byStart)) {
    begin({ ...session, exitedAt: null, endedAt: null, open: true, corrected: false });
  }
  for (const item of [...seen].sort(inOrder)) {
    const at = item.occurredAt;
    if (item.kind === 'INSIDE') count(item);
    else if (item.kind === 'ENTRY') begin({ ...sessionOf(item), enteredAt: at });
    else {
      const session = leaving(item);
      if (session) end(session, at, at);
      else sessions.push({ ...sessionOf(item), exitedAt: at, endedAt: at, open: false });
    }
  }
  for (const session of unended.values()) {
    session.open = !(session.staysUntil && session.staysUntil <= now);
  }
  return sessions;
}
