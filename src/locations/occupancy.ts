import type { Location } from '../../prisma/generated/client/client.ts';
import type { Author } from '../auth/key.ts';
import { recordChange, type Transaction } from '../audit/record.ts';

/** How many vehicles fit, null when unknown, and how many are inside. */
export interface Room {
  capacity: number | null;
  occupied: number;
}

/** Whether a location has room; unknown without a capacity. */
export type LocationState = 'AVAILABLE' | 'FULL' | 'UNKNOWN';

/** Free places, never below 0; null when the capacity is unknown (decisions, "status of a location"). */
export function freePlaces({ capacity, occupied }: Room): number | null {
  return capacity === null ? null : Math.max(capacity - occupied, 0);
}

/** The state that follows from the free places. */
export function locationState(room: Room): LocationState {
  const free = freePlaces(room);
  if (free === null) return 'UNKNOWN';
  return free > 0 ? 'AVAILABLE' : 'FULL';
}

/** How many vehicles are inside a location now. */
export function countInside(transaction: Transaction, locationId: string): Promise<number> {
  return transaction.parkingSession.count({ where: { locationId, open: true } });
}

/** Leaves an audit record when a change took the last place of a location, or freed a place of a full one. */
export async function recordStateChange(
  transaction: Transaction,
  author: Author,
  location: Location,
  { before, after }: { before: Room; after: Room },
): Promise<void> {
  const [was, is] = [locationState(before), locationState(after)];
  const filled = is === 'FULL' && was !== 'FULL';
  const opened = is === 'AVAILABLE' && was === 'FULL';
  if (!filled && !opened) return;
  await recordChange(transaction, author, {
    action: filled ? 'location.full' : 'location.available',
    targetId: location.id,
    companyId: location.companyId,
    locationId: location.id,
    changes: after,
  });
}
