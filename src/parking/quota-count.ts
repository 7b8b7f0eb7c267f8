import type { ParkingEvent } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../audit/record.ts';
import { type EntryQuota, findQuotasOfEntries } from '../whitelist/quotas.ts';
import { type EventChange, isSameEntry } from './count-entries.ts';

/** A quota that an entry exceeded: what the message of it says. */
export interface ExceededQuota extends Pick<EntryQuota, 'referenceId' | 'inside' | 'enforcement'> {
  /** How many vehicles of the reference are inside, with the one that entered. */
  used: number;
  event: ParkingEvent;
}

/**
 * Begins to count the vehicles of quotas, from those that are inside now. Called before the events are written, in a
 * transaction that has locked the location: so no two events count at once.
 *
 * @param entryIds the whitelist entries of the events
 * @returns what takes the events into the count one after the other, as they arrived
 */
export async function startQuotaCount(
  transaction: Transaction,
  locationId: string,
  entryIds: readonly string[],
): Promise<(change: EventChange) => ExceededQuota | null> {
  const found = entryIds.length > 0 ? await findQuotasOfEntries(transaction, locationId, entryIds) : [];
  const quotas = new Map(found.map((quota) => [quota.entryId, quota]));
  const insideOf = new Map(found.map(({ referenceId, insideIds }) => [referenceId, new Set(insideIds)]));

  return function count({ before, after }) {
    // What turns out to be another vehicle is not inside.
    const earlierId = before?.kind === 'ENTRY' ? before.whitelistEntryId : null;
    if (earlierId !== null && earlierId !== after.whitelistEntryId) {
      for (const vehicles of insideOf.values()) vehicles.delete(earlierId);
    }
    const quota = quotas.get(after.whitelistEntryId ?? '');
    if (!quota) return null;
    const { entryId, referenceId, inside, enforcement } = quota;
    const vehicles = insideOf.get(referenceId)!;
    if (after.kind === 'EXIT') {
      vehicles.delete(entryId);
      return null;
    }
    vehicles.add(entryId);
    return isSameEntry(before, after) || vehicles.size <= inside
      ? null
      : { referenceId, inside, enforcement, used: vehicles.size, event: after };
  };
}
