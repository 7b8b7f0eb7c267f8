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
   * caller must first write the earlier events, refresh the sessions and start a new count. The result is true if the
   * event can exceed a quota, and at least one of these conditions is true:
   *
   * - An earlier event that `count` has counted is a correction.
   * - An earlier event that `count` has counted has the same reference, and is not newer than the last known
   *   observation of its vehicle.
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
  // The vehicles inside, for each reference (such as an apartment). The inner map has the id of the whitelist entry of
  // each vehicle as key, and the id of its session as value. The session id is the id of the parking event that started
  // the parking session.
  const insideOf = new Map(
    found.map(({ referenceId, sessions }) => [referenceId, new Map(Object.entries(sessions))]),
  );
  const lastObservedAt = new Map(found.map((quota) => [quota.entryId, quota.lastObservedAt]));
  // The references (such as apartments) for which the gateway must refresh the sessions before it knows the vehicles
  // inside.
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
      // A correction can change past sessions, and the sessions of two vehicles, so all references become outdated.
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
      // A vehicle whose maximum stay is already over counts only for its own entry event, not for later events of other
      // vehicles.
      if (isStayOver(after)) vehicles.delete(entryId);
      return isSameEntry(before, after) || used <= inside
        ? null
        : { referenceId, inside, enforcement, used, event: after };
    },
  };
}
