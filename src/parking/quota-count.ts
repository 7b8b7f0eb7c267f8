import type { Location, ParkingEvent } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import type { EntryQuota } from './quota-statements.ts';
import { findQuotasOfEntries } from './quotas.ts';
import { type EventChange, isSameEntry } from './count-entries.ts';
import { longestStayMsOf } from './refresh-sessions.ts';

/** A quota that a vehicle exceeded when it entered, with the values for the webhook event `quota.exceeded`. */
export interface ExceededQuota extends Pick<EntryQuota, 'referenceId' | 'inside' | 'enforcement'> {
  /**
   * The number of vehicles inside that belong to the reference (such as an apartment), including the vehicle that has
   * just entered.
   */
  used: number;
  event: ParkingEvent;
}

/** Counts the vehicles that use quotas, while the gateway records parking events. */
export interface QuotaCount {
  /**
   * Counts one event. The caller must call `count` for all events, in the order in which the events arrived.
   *
   * @returns the exceeded quota, or null when the vehicle exceeds no quota
   */
  count(change: EventChange): ExceededQuota | null;
  /**
   * Whether the gateway must refresh the sessions before it can check the quota of an event. If the result is true, the
   * caller must first write the earlier events, and refresh the sessions. The caller must then call `startQuotaCount`
   * again. The result is true if the event can exceed a quota, and if `count` has already counted one of the following
   * events:
   *
   * - a correction of a stored event;
   * - a late event of the same reference (such as an apartment): when the event arrived, the gateway already knew an
   *   observation of the vehicle with the same or a later time.
   */
  isOutdatedFor(change: EventChange): boolean;
}

/**
 * Reads the quotas of whitelist entries, and the vehicles that currently use each quota. The caller must call
 * `startQuotaCount` before it writes the parking events that `count` will count. The caller's transaction must lock the
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
  // The vehicles inside, for each reference (such as an apartment). Each vehicle is stored as the id of its whitelist
  // entry (the key), with the id of its session (the value). The session id is the id of the parking event that started
  // the parking session.
  const insideOf = new Map(
    found.map(({ referenceId, sessions }) => [referenceId, new Map(Object.entries(sessions))]),
  );
  const lastObservedAt = new Map(found.map((quota) => [quota.entryId, quota.lastObservedAt]));
  // The references (such as apartments) whose vehicles inside are unknown until the gateway refreshes the sessions.
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
      // A correction can change past sessions, and the sessions of two vehicles. The counts of all references (such as
      // apartments) are therefore outdated.
      if (before) for (const referenceId of insideOf.keys()) outdated.add(referenceId);
      // If a correction changes the whitelist entry of an event, the vehicle of the old whitelist entry no longer
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
      // A vehicle whose maximum stay is already over counts as inside only for its own entry event. For later events of
      // other vehicles, the vehicle no longer counts as inside.
      if (isStayOver(after)) vehicles.delete(entryId);
      return isSameEntry(before, after) || used <= inside
        ? null
        : { referenceId, inside, enforcement, used, event: after };
    },
  };
}
