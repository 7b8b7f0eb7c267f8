import type { Location, ParkingEvent } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import type { EntryQuota } from './quota-statements.ts';
import { findQuotasOfEntries } from './quotas.ts';
import { type EventChange, isSameEntry } from './count-entries.ts';
import { longestStayMsOf } from './refresh-sessions.ts';

/** A quota that a vehicle exceeded when it entered, with the values for the webhook event `quota.exceeded`. */
export interface ExceededQuota extends Pick<EntryQuota, 'referenceId' | 'inside' | 'enforcement'> {
  /**
   * The number of vehicles of the reference (such as an apartment) inside, including the vehicle that has just entered.
   */
  used: number;
  event: ParkingEvent;
}

/** Counts the vehicles that use quotas, while the gateway records parking events. */
export interface QuotaCount {
  /**
   * Counts one event. The caller must call `count` for each event, in the order in which the events arrived.
   *
   * @returns the exceeded quota, or null when the vehicle exceeds no quota
   */
  count(change: EventChange): ExceededQuota | null;
  /**
   * Whether the sessions must be refreshed before the quota of an event can be checked. If so, the caller must write
   * the earlier events, refresh the sessions and start a new count before it counts this event. The sessions must be
   * refreshed if the event can exceed a quota, and if one of the earlier events:
   *
   * - is a correction, or
   * - has the same reference, and did not occur after the last known observation of its vehicle.
   */
  isOutdatedFor(change: EventChange): boolean;
}

/**
 * Reads the quotas of whitelist entries, and the vehicles that currently use each quota. The caller must call
 * `startQuotaCount` before it writes the parking events that it counts. The caller's transaction must lock the
 * location, so that no other event of the location is counted at the same time.
 *
 * @param events.entryIds the ids of the whitelist entries to which the parking events belong
 * @param events.isBatch whether the caller counts several events
 * @param events.now the current time by the clock of the database
 */
export async function startQuotaCount(
  transaction: Transaction,
  location: Location,
  { entryIds, isBatch, now }: { entryIds: readonly string[]; isBatch: boolean; now: Date },
): Promise<QuotaCount> {
  const found =
    entryIds.length > 0 ? await findQuotasOfEntries(transaction, location.id, entryIds, { isBatch }) : [];
  const quotas = new Map(found.map((quota) => [quota.entryId, quota]));
  // Maps each reference (such as an apartment) to a map from whitelist entry id to session id, for the vehicles inside.
  // The session id is the id of the parking event that started the parking session.
  const insideOf = new Map(
    found.map(({ referenceId, sessions }) => [referenceId, new Map(Object.entries(sessions))]),
  );
  const lastObservedAt = new Map(found.map((quota) => [quota.entryId, quota.lastObservedAt]));
  // The references whose vehicles inside are unknown until the sessions are refreshed.
  const outdated = new Set<string>();
  const longestStayMs = longestStayMsOf(location);
  const isStayOver = ({ occurredAt }: ParkingEvent) =>
    longestStayMs !== null && occurredAt.getTime() + longestStayMs <= now.getTime();
  const quotaOf = ({ whitelistEntryId }: ParkingEvent) => quotas.get(whitelistEntryId ?? '');

  return {
    isOutdatedFor: ({ before, after }) =>
      after.kind === 'ENTRY' &&
      !isSameEntry(before, after) &&
      outdated.has(quotaOf(after)?.referenceId ?? ''),

    count({ before, after }) {
      // A correction can change past sessions, and the sessions of two vehicles.
      if (before) for (const referenceId of insideOf.keys()) outdated.add(referenceId);
      // When a correction gives an event another whitelist entry, the vehicle of the previous whitelist entry no longer
      // counts as inside.
      if (before?.kind === 'ENTRY' && before.whitelistEntryId !== after.whitelistEntryId) {
        for (const vehicles of insideOf.values()) {
          for (const [entryId, eventId] of vehicles) if (eventId === before.id) vehicles.delete(entryId);
        }
      }
      const quota = quotaOf(after);
      if (!quota) return null;
      const { entryId, referenceId, inside, enforcement } = quota;
      const last = lastObservedAt.get(entryId);
      if (last && after.occurredAt <= last) outdated.add(referenceId);
      else lastObservedAt.set(entryId, after.occurredAt);
      const vehicles = insideOf.get(referenceId)!;
      if (after.kind === 'EXIT') {
        vehicles.delete(entryId);
        return null;
      }
      const used = vehicles.set(entryId, after.id).size;
      // A vehicle whose maximum stay is already over counts only for its own entry event, not for later events of other
      // vehicles.
      if (isStayOver(after)) vehicles.delete(entryId);
      return isSameEntry(before, after) || used <= inside
        ? null
        : { referenceId, inside, enforcement, used, event: after };
    },
  };
}
