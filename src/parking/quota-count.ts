import type { ParkingEvent } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import type { EntryQuota } from './quota-statements.ts';
import { findQuotasOfEntries } from './quotas.ts';
import { type EventChange, isSameEntry } from './count-entries.ts';

/** A quota that a vehicle exceeded when it entered, with the values for the webhook event `quota.exceeded`. */
export interface ExceededQuota extends Pick<EntryQuota, 'referenceId' | 'inside' | 'enforcement'> {
  /**
   * The number of vehicles of the reference (such as an apartment) inside, including the vehicle that has just entered.
   */
  used: number;
  event: ParkingEvent;
}

/**
 * Reads the quotas of whitelist entries, and the vehicles that currently use each quota. The caller must call
 * `startQuotaCount` before it writes the parking events. The caller's transaction must lock the location, so that no
 * other event of the location is counted at the same time.
 *
 * @param entryIds the ids of the whitelist entries to which the parking events belong
 * @returns a function that counts one event; the caller must call it for each event, in the order in which the events
 * arrived
 */
export async function startQuotaCount(
  transaction: Transaction,
  locationId: string,
  entryIds: readonly string[],
): Promise<(change: EventChange) => ExceededQuota | null> {
  const found = entryIds.length > 0 ? await findQuotasOfEntries(transaction, locationId, entryIds) : [];
  const quotas = new Map(found.map((quota) => [quota.entryId, quota]));
  // Maps each reference (such as an apartment) to a map from whitelist entry id to session id, for the vehicles inside.
  // The session id is the id of the parking event that started the parking session.
  const insideOf = new Map(
    found.map(({ referenceId, sessions }) => [referenceId, new Map(Object.entries(sessions))]),
  );

  return function count({ before, after }) {
    // When a correction gives an event another whitelist entry, the vehicle of the previous whitelist entry no longer
    // counts as inside.
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
