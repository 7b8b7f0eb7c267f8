import type { Location, ParkingEvent, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import { groupBy } from '../database/group-by.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import type { Plate } from '../whitelist/plate.ts';
import { quotasOfEntries, type UsedQuota, type VehicleInside } from './quota-statements.ts';
import { type EventChange, isSameEntry } from './count-entries.ts';
import { longestStayMsOf } from './refresh-sessions.ts';
import { createSimilarVehicles } from './similar-vehicles.ts';
import { plateKey } from './vehicle-identity.ts';

/**
 * A quota that a vehicle exceeded when it entered. The object contains the values for the webhook event
 * `quota.exceeded`.
 */
export interface ExceededQuota extends Pick<UsedQuota, 'referenceId' | 'inside' | 'enforcement'> {
  /**
   * The number of vehicles inside that count towards the quota, including the vehicle that has just entered. A vehicle
   * counts towards the quota if its whitelist entry has the reference `referenceId` (such as an apartment).
   */
  used: number;
  event: ParkingEvent;
}

/** Counts the vehicles inside for each quota, while the gateway records several parking events. */
export interface QuotaCount {
  /**
   * Counts one event. The caller must call `count` for all parking events, in the order in which the events arrived.
   *
   * @returns the exceeded quota, or null when the vehicle exceeds no quota
   */
  count(change: EventChange): ExceededQuota | null;
  /**
   * Whether the gateway must compute the parking sessions again before it can check the quota for a parking event. If
   * `isOutdatedFor` returns true, the caller must first write the parking events that are already counted, and call
   * `refreshSessions`. After the call of `refreshSessions`, the caller must start a new quota count with
   * `startQuotaCount`.
   *
   * The function returns true if the parking event can exceed a quota, and the parking sessions of vehicles with this
   * quota may be outdated. An event that was counted earlier can make these sessions outdated. If a client corrects a
   * stored parking event, the correction can change parking sessions of vehicles that share this quota. An event whose
   * plate differs from the plate of its whitelist entry can also change the parking sessions of these vehicles. If the
   * plate of an open session differs from the plate of its whitelist entry, any event of this whitelist entry may end
   * that session. A late parking event can change parking sessions that began after the time of the event. A parking
   * event is late if the gateway already knows an event or an occupancy count of the same vehicle at the same time or
   * at a later time. Finally, an event can change the session of another vehicle if cameras may confuse the plates of
   * the two vehicles.
   */
  isOutdatedFor(change: EventChange): boolean;
}

/**
 * Reads the quotas of whitelist entries, and the vehicles that currently use each quota. The caller must call
 * `startQuotaCount` before it writes the parking events that `count` will count. The caller's transaction must lock the
 * location, so that no other parking event of the location is counted at the same time.
 *
 * @param events.entries the whitelist entries to which the parking events belong
 * @param events.isBatch whether the caller counts several parking events
 * @param events.observedFrom the time of the earliest parking event that the caller will pass to `count`
 * @param events.now the current time by the clock of the database
 */
export async function startQuotaCount(
  transaction: Transaction,
  location: Location,
  {
    entries,
    isBatch,
    observedFrom,
    now,
  }: { entries: readonly WhitelistEntry[]; isBatch: boolean; observedFrom: Date; now: Date },
): Promise<QuotaCount> {
  const entryIds = entries.map(({ id }) => id);
  const found =
    entryIds.length > 0
      ? await queryInTransaction<UsedQuota>(transaction, quotasOfEntries, {
          locationId: location.id,
          entryIds,
          isBatch,
          observedFrom,
        })
      : [];
  const quotas = new Map(found.flatMap((quota) => quota.entries.map(({ id }) => [id, quota])));
  const plates = new Map(entries.map((entry) => [entry.id, entry]));
  // Maps each reference (such as an apartment) to its vehicles inside, grouped by whitelist entry.
  const insideOf = new Map(
    found.map(({ referenceId, vehicles }) => [referenceId, groupBy(vehicles, ({ entryId }) => entryId)]),
  );
  // The references (such as apartments) whose parking sessions may have changed. If a reference (such as an apartment)
  // is in `outdated`, the gateway must compute the parking sessions again before it can count the vehicles with this
  // reference.
  const outdated = new Set<string>();
  const similar = createSimilarVehicles();
  // The index `similar` is necessary only if the caller counts several parking events. If the caller counts only one
  // parking event, the SQL statement therefore returns null for `plate` and `lastObservedAt`.
  for (const { referenceId, entries: listed, vehicles } of found) {
    for (const { plate, entryId } of vehicles) if (plate) similar.add(plate, entryId, referenceId);
    for (const { id, lastObservedAt } of listed) {
      const plate = plates.get(id);
      if (plate && lastObservedAt) similar.observe({ ...plate, text: null }, new Date(lastObservedAt));
    }
  }
  const longestStayMs = longestStayMsOf(location);
  const isStayOver = ({ occurredAt }: ParkingEvent) =>
    longestStayMs !== null && occurredAt.getTime() + longestStayMs <= now.getTime();
  const quotaOf = ({ whitelistEntryId }: ParkingEvent) => quotas.get(whitelistEntryId ?? '');
  const markAll = () => {
    for (const referenceId of insideOf.keys()) outdated.add(referenceId);
  };
  /** Whether a parking event, or the parking session of a vehicle, has the plate of a whitelist entry. */
  const hasPlateOf = (entryId: string, plate: Plate) => {
    const listed = plates.get(entryId);
    return listed !== undefined && plateKey(listed) === plateKey(plate);
  };

  return {
    isOutdatedFor: ({ before, after }) =>
      after.kind === 'ENTRY' &&
      !isSameEntry(before, after) &&
      outdated.has(quotaOf(after)?.referenceId ?? ''),

    count({ before, after }) {
      const entryId = after.whitelistEntryId;
      // When a client corrects an earlier parking event, past parking sessions can change. If the correction changes
      // the plate of the event, the parking sessions of two vehicles change.
      if (before) markAll();
      // A parking event can have a plate that differs from the plate of its whitelist entry. Such an event can belong
      // to a parking session of another whitelist entry, whose plate is equal to the plate of the event.
      if (entryId !== null && !hasPlateOf(entryId, after)) markAll();
      // If cameras may confuse the plate of the event with the plate of another vehicle, the event may begin or end a
      // session of the other vehicle.
      for (const referenceId of similar.referencesOf(after, entryId)) outdated.add(referenceId);
      const isLate = similar.observe(after, after.occurredAt);
      // If a client corrects an event so that it belongs to another whitelist entry, the vehicle of the old whitelist
      // entry no longer counts as inside.
      if (before?.kind === 'ENTRY' && before.whitelistEntryId !== entryId) {
        for (const vehicles of insideOf.values()) removeSession(vehicles, before.id);
      }
      const quota = quotaOf(after);
      if (!quota || entryId === null) return null;
      const { referenceId, inside, enforcement } = quota;
      const vehicles = insideOf.get(referenceId)!;
      // The whitelist entry of the parking event can have an open parking session with a plate that differs from the
      // plate of the entry. The function then cannot know which parking session the event ends.
      const hasOtherPlate = vehicles.get(entryId)?.some(({ plate }) => plate && !hasPlateOf(entryId, plate));
      if (isLate || hasOtherPlate) outdated.add(referenceId);
      if (after.kind === 'EXIT') {
        vehicles.delete(entryId);
        return null;
      }
      const used = vehicles.set(entryId, [{ entryId, sessionId: after.id, plate: after }]).size;
      similar.add(after, entryId, referenceId);
      // A gate can send an entry event so late that the maximum stay of the vehicle is already over. When the gateway
      // checks the quota for an entry event that a gate sent late, the vehicle of this event counts as inside. For
      // later entry events, a vehicle whose maximum stay is over does not count as inside.
      if (isStayOver(after)) vehicles.delete(entryId);
      return isSameEntry(before, after) || used <= inside
        ? null
        : { referenceId, inside, enforcement, used, event: after };
    },
  };
}

/** Removes the parking session `sessionId` from the sessions of the vehicles inside. */
function removeSession(vehicles: Map<string, VehicleInside[]>, sessionId: string): void {
  for (const [entryId, sessions] of vehicles) {
    const others = sessions.filter((session) => session.sessionId !== sessionId);
    if (others.length === 0) vehicles.delete(entryId);
    else vehicles.set(entryId, others);
  }
}
