import type { ParkingEvent } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { addUses } from './event-statements.ts';

/**
 * A parking event before and after a correction. For a new parking event, `before` is `undefined`, because a new event
 * has no earlier version.
 */
export interface EventChange {
  before: ParkingEvent | undefined;
  after: ParkingEvent;
}

/**
 * Whether a parking event had the kind `ENTRY` and the same whitelist entry before and after a correction. If a
 * correction keeps this kind and this whitelist entry, the stored number of times that the vehicle has entered does not
 * change.
 */
export const isSameEntry = (before: ParkingEvent | undefined, after: ParkingEvent): before is ParkingEvent =>
  before?.kind === 'ENTRY' &&
  after.kind === 'ENTRY' &&
  before.whitelistEntryId !== null &&
  before.whitelistEntryId === after.whitelistEntryId;

/**
 * After parking events were added or corrected, updates the number of times that each whitelisted vehicle has entered.
 * Before the call, the caller must lock the location in `transaction`. When the retention job removes old parking
 * events, the stored number of times that a vehicle has entered does not decrease.
 */
export async function countEntries(
  transaction: Transaction,
  locationId: string,
  changes: readonly EventChange[],
): Promise<void> {
  const byEntry = new Map<string, number>();
  const add = (event: ParkingEvent | undefined, change: number) => {
    if (event?.kind !== 'ENTRY' || event.whitelistEntryId === null) return;
    byEntry.set(event.whitelistEntryId, (byEntry.get(event.whitelistEntryId) ?? 0) + change);
  };
  for (const { before, after } of changes) {
    add(before, -1);
    add(after, 1);
  }
  const changed = [...byEntry].filter(([, change]) => change !== 0);
  if (changed.length === 0) return;
  await queryInTransaction(transaction, addUses, {
    locationId,
    entryId: changed.map(([entryId]) => entryId),
    change: changed.map(([, change]) => change),
  });
}
