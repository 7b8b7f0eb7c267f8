import { newId } from '../src/ids.ts';
import { deriveSessions } from '../src/parking/derive-sessions.ts';
import type { Plate } from '../src/whitelist/plate.ts';
import type { ParkingEvent, ParkingSession } from './generated/client/client.ts';

// This file creates the past parking events of the demo data, in the days before the first start of the gateway. All
// times in the demo data are relative to the first start of the gateway. The demo data has no random values.

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How many days of past parking events the demo data contains, counted back from the first start of the gateway. */
const pastDays = 7;

/**
 * The difference between the local time in Dubai and UTC, in milliseconds. The difference between the time in Dubai and
 * UTC is constant, because Dubai has no daylight saving time.
 */
const offsetMs = 4 * hourMs;

/**
 * The minimum time in milliseconds between the end of a demo vehicle's last completed stay and the first start of the
 * gateway. It applies to vehicles that are inside at this start. A demo vehicle that is inside began its current stay
 * less than 12 hours before the first start of the gateway. The last completed stay and the current stay of a demo
 * vehicle therefore do not overlap.
 */
const pauseMs = 12 * hourMs;

/** Returns the next midnight in Dubai after the given time. */
export const endOfDay = (at: number): Date => new Date(startOfDay(at) + dayMs);

const startOfDay = (at: number) => Math.floor((at + offsetMs) / dayMs) * dayMs - offsetMs;

/** A vehicle of the demo data. If `entryId` is null, the demo vehicle has no whitelist entry. */
export interface DemoVehicle extends Plate {
  entryId: string | null;
}

/**
 * The hours of the day at which a demo vehicle enters and leaves its location. An hour above 24 is an hour of the next
 * day: 30 means 06:00 on the next day.
 */
interface Rhythm {
  arrives: number;
  leaves: number;
}

/**
 * A group of vehicles that enter and leave at similar times. The property `inside` is the number of vehicles of the
 * group that are inside their location when the gateway starts for the first time.
 */
export interface DemoGroup {
  vehicles: readonly DemoVehicle[];
  rhythm: Rhythm;
  inside: number;
}

export const rhythms = {
  resident: { arrives: 18, leaves: 31 },
  office: { arrives: 8.5, leaves: 17.5 },
  visitor: { arrives: 11, leaves: 14 },
} as const satisfies Record<string, Rhythm>;

/** One stay of a demo vehicle at a location. */
export interface DemoStay {
  vehicle: DemoVehicle;
  enteredAt: number;
  exitedAt: number | null;
  /**
   * The decision that the gateway sent to the gate. If `decision` is omitted, a vehicle with a whitelist entry gets the
   * decision `LISTED`. If `decision` is omitted for a vehicle without a whitelist entry, the gateway sent no decision
   * for this vehicle to the gate.
   */
  decision?: ParkingEvent['decision'];
}

/** Returns demo vehicles that belong to visitors. These vehicles are not on any whitelist. */
export const visitors = (count: number, firstNumber: number): DemoVehicle[] =>
  Array.from({ length: count }, (_, index) => ({
    plateType: ['DXB', 'SHJ', 'AUH'][index % 3]!,
    plateCode: ['E', '12', 'G'][index % 3]!,
    plateNumber: String(firstNumber + 137 * index),
    entryId: null,
  }));

/**
 * Returns the stays of a group of vehicles: the completed stays of the past days, and the current stays of the vehicles
 * that are still inside.
 */
export function staysOf({ vehicles, rhythm, inside }: DemoGroup, now: number): DemoStay[] {
  const days = Array.from({ length: pastDays + 1 }, (_, index) => pastDays - index);
  const past = days.flatMap((daysAgo) =>
    vehicles.flatMap((vehicle, index): DemoStay[] => {
      const day = startOfDay(now) - daysAgo * dayMs;
      const spread = (((index * 37 + daysAgo * 53) % 120) - 60) * minuteMs;
      const enteredAt = day + rhythm.arrives * hourMs + spread;
      const exitedAt = day + rhythm.leaves * hourMs + spread / 2;
      return exitedAt < now - (index < inside ? pauseMs : 0) ? [{ vehicle, enteredAt, exitedAt }] : [];
    }),
  );
  const current = vehicles.slice(0, inside).map((vehicle, index): DemoStay => ({
    vehicle,
    enteredAt: now - (15 + ((index * 47) % 600)) * minuteMs,
    exitedAt: null,
  }));
  return [...past, ...current];
}

/**
 * Returns the parking events for the given stays at a location, and the parking sessions that the gateway derives from
 * these parking events.
 */
export function activityOf(
  locationId: string,
  stays: readonly DemoStay[],
  now: number,
): { events: ParkingEvent[]; sessions: ParkingSession[] } {
  const seen = stays
    .flatMap(({ vehicle, enteredAt, exitedAt, decision }) => [
      { vehicle, decision, kind: 'ENTRY' as const, at: enteredAt },
      ...(exitedAt === null ? [] : [{ vehicle, decision, kind: 'EXIT' as const, at: exitedAt }]),
    ])
    .sort((one, other) => one.at - other.at);
  const events = seen.map(({ vehicle, decision, kind, at }, index): ParkingEvent => {
    const { entryId, ...plate } = vehicle;
    const isAdmitted = entryId !== null && decision === undefined;
    const occurredAt = new Date(at);
    return {
      ...{ id: newId(), locationId, eventId: `demo/${index + 1}`, kind, ...plate },
      ...{ text: null, confidence: null, occurredAt, overQuota: false },
      decision: kind === 'EXIT' ? null : (decision ?? (isAdmitted ? 'LISTED' : null)),
      ...{ whitelistEntryId: entryId, listed: isAdmitted, createdAt: occurredAt, updatedAt: occurredAt },
    };
  });
  const sessions = deriveSessions({
    ...{ locationId, begun: [], texts: new Map(), observations: events, longestStayMs: null },
    now: new Date(now),
  });
  return { events, sessions };
}

/**
 * Returns rows for the table `WhitelistEntryUse`: one row for each whitelist entry, with the number of times that its
 * vehicle has entered.
 */
export function usesOf(events: readonly ParkingEvent[]): { entryId: string; recorded: number }[] {
  const uses = new Map<string, number>();
  for (const { kind, whitelistEntryId } of events) {
    if (kind === 'ENTRY' && whitelistEntryId !== null) {
      uses.set(whitelistEntryId, (uses.get(whitelistEntryId) ?? 0) + 1);
    }
  }
  return [...uses].map(([entryId, recorded]) => ({ entryId, recorded }));
}
