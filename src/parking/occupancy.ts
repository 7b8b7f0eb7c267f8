import type { Location } from '../../prisma/generated/client/client.ts';
import { type ChangeAuthor, recordChange } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import type { OccupancyParts } from './occupancy-columns.ts';
import { occupancy } from './occupancy-statements.ts';

/**
 * The capacity of a location and the number of vehicles inside. The capacity of a location is null when it is unknown.
 */
export interface CapacityUse {
  capacity: number | null;
  occupied: number;
}

/** Whether a location has free places. The state of a location is `UNKNOWN` when its capacity is unknown. */
export type LocationState = 'AVAILABLE' | 'FULL' | 'UNKNOWN';

/**
 * Returns the number of free places, which is never below 0. If the capacity of the location is unknown, the number of
 * free places is null (docs/contract.md#status-of-a-location).
 */
export function freePlaces({ capacity, occupied }: CapacityUse): number | null {
  return capacity === null ? null : Math.max(capacity - occupied, 0);
}

/**
 * Returns whether a location has free places (`AVAILABLE`) or no free place (`FULL`). The state of a location without a
 * capacity is `UNKNOWN`.
 */
export function locationState(capacityUse: CapacityUse): LocationState {
  const free = freePlaces(capacityUse);
  if (free === null) return 'UNKNOWN';
  return free > 0 ? 'AVAILABLE' : 'FULL';
}

/** Returns the number of vehicles inside a location. */
export const occupiedOf = ({ openSessions, adjustment }: OccupancyParts) => openSessions + adjustment;

/**
 * Writes an audit record when a location has become full or has free places again. `announcedFull` is the state that
 * the last such audit record announced. If the location is still in this state, the function writes no audit record.
 * Before the call, the caller must lock the location in `transaction`.
 *
 * @param location the current values of the location, including the changes that the transaction has made
 */
export async function announceState(
  transaction: Transaction,
  author: ChangeAuthor,
  { id, companyId, capacity, announcedFull }: Location,
): Promise<void> {
  const [parts] = await queryInTransaction<OccupancyParts>(transaction, occupancy, { locationId: id });
  const capacityUse: CapacityUse = { capacity, occupied: occupiedOf(parts!) };
  const state = locationState(capacityUse);
  // If the capacity of the location is unknown, the gateway writes no audit record that the location is full or has
  // free places.
  if (state === 'UNKNOWN') return;
  const isFull = state === 'FULL';
  if (isFull === announcedFull) return;
  await transaction.location.update({ where: { id }, data: { announcedFull: isFull } });
  await recordChange(transaction, author, {
    action: isFull ? 'location.full' : 'location.available',
    targetId: id,
    companyId,
    locationId: id,
    changes: capacityUse,
  });
}
