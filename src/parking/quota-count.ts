import type { ParkingEvent } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import { type EntryQuota, findQuotasOfEntries } from './quotas.ts';
import { type EventChange, isSameEntry } from './count-entries.ts';

/** A quota that a vehicle exceeded, with the values for the message to the client. */
export interface ExceededQuota extends Pick<EntryQuota, 'referenceId' | 'inside' | 'enforcement'> {
  /** The number of vehicles of the reference that are inside, including the vehicle that entered. */
  used: number;
  event: ParkingEvent;
}

/**
 * Starts to count the vehicles inside for each quota. The count begins with the vehicles that are inside now. The
 * function must be called before the events are written. The location must be locked in the caller's transaction, so
 * that no other event is counted at the same time.
 *
 * @param entryIds the whitelist entries of the events
 * @returns a function that counts one event; the caller must call it for each event in the order of their arrival
 */
export async function startQuotaCount(
  transaction: Transaction,
  locationId: string,
  entryIds: readonly string[],
): Promise<(change: EventChange) => ExceededQuota | null> {
  const found = entryIds.length > 0 ? await findQuotasOfEntries(transaction, locationId, entryIds) : [];
  const quotas = new Map(found.map((quota) => [quota.entryId, quota]));
  // For each vehicle, the id of the event with which its stay began. The session of the vehicle has the same id.
  const insideOf = new Map(
    found.map(({ referenceId, sessions }) => [referenceId, new Map(Object.entries(sessions))]),
  );

  return function count({ before, after }) {
    // When a correction gives an event another whitelist entry, the event no longer counts for the earlier entry.
    if (before?.kind === 'ENTRY' && before.whitelistEntryId !== after.whitelistEntryId) {
      for (const vehicles of insideOf.values()) {
        for (const [entryId, eventId] of vehicles) if (eventId === before.id) vehicles.delete(entryId);
      }
    }
    const quota = quotas.get(after.whitelistEntryId ?? '');
    if (!quota) return null;
    const { entryId, referenceId, inside, enforcement } = quota;
    const vehicles = insideOf.get(referenceId)!;
    if (after.kind === 'EXIT') {
      vehicles.delete(entryId);
      return null;
    }
    vehicles.set(entryId, after.id);
    return isSameEntry(before, after) || vehicles.size <= inside
      ? null
      : { referenceId, inside, enforcement, used: vehicles.size, event: after };
  };
}
