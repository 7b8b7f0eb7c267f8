import type { Location, OccupancyCount, ParkingSession } from '../../prisma/generated/client/client.ts';
import { recordChange } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import type { WaitingAuthor } from '../auth/key.ts';
import { databaseNow } from '../database/clock.ts';
import { columnArrays } from '../database/columns.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { partsOf } from '../database/parts.ts';
import { newId } from '../ids.ts';
import { lockLocation } from '../location-access/lock.ts';
import { announceState } from './occupancy.ts';
import { type Plate, plateArrays } from '../whitelist/plate.ts';
import { sessionState } from './derive-sessions.ts';
import { plateKey } from './vehicle-identity.ts';
import { type ChangedPlate, longestStayMsOf, refreshSessions } from './refresh-sessions.ts';
import { matchEntries, matchOf } from './match-entries.ts';
import { countOpenSessions, insertPlates, insideAt, updateOpenSessions } from './occupancy-statements.ts';
import { writtenColumns } from './session-statements.ts';
import type { LocationChangeServices } from '../location-access/change-services.ts';

/**
 * The maximum number of vehicles in one occupancy count. Almost all car parks have fewer than 10,000 spaces, and one
 * transaction can store 10,000 vehicles.
 */
export const maxPlatesInside = 10_000;

/**
 * The maximum number of vehicles that one SQL statement adds to an occupancy count or removes from it. On the embedded
 * database, gate decisions wait until the running SQL statement ends.
 */
const platesPerStatement = 500;

/**
 * Maps each column of a parking session to an empty array. When `setInside` must remove parking sessions and add none,
 * it passes these empty arrays to the SQL statement `updateOpenSessions`.
 */
const noSessions = columnArrays(writtenColumns, []);

/** The functions that record occupancy counts: which vehicles, or how many vehicles, were inside a location. */
export type InsideCounts = ReturnType<typeof createInsideCounts>;

/** Creates the functions that record occupancy counts. */
export function createInsideCounts({
  prisma,
  locations,
  locationSlots,
  statusNotices,
}: LocationChangeServices) {
  /**
   * In a transaction, runs the function `work`, which changes the occupancy of a location. If earlier changes of the
   * location are still running, the function `change` first waits until these changes have ended.
   */
  async function change(
    author: WaitingAuthor,
    locationId: string,
    work: (transaction: Transaction) => Promise<void>,
  ): Promise<void> {
    await locations.find(author.key, locationId);
    await locationSlots.run(author, locationId, () => prisma.$transaction(work));
    statusNotices.publish(locationId);
  }

  return {
    /**
     * Records which vehicles were inside a location at a given time. The occupancy count makes sure that every vehicle
     * in `plates` has an open session at the given time, and ends the sessions of all other vehicles. If an occupancy
     * count with plates already exists for the same time, the new list of vehicles replaces the stored list. If the new
     * occupancy count lists the same vehicles as the stored occupancy count, the function changes nothing.
     *
     * @param at the time at which the vehicles were counted; the default is the current time
     * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
     * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many changes of the location are waiting, or when earlier
     *   changes take too long
     * @throws {ServiceError} `UNAUTHORIZED` or `FORBIDDEN` when the API key lost its access while the change waited for
     *   earlier changes
     */
    setInside: (author: WaitingAuthor, locationId: string, plates: readonly Plate[], at?: Date | null) =>
      change(author, locationId, async (transaction) => {
        const location = await lockLocation(transaction, locationId, author.key);
        const now = await databaseNow(transaction);
        const countedAt = at ?? now;
        const wanted = new Map(plates.map((plate) => [plateKey(plate), plate]));
        const count = await putCount(transaction, {
          ...{ locationId, kind: 'VEHICLES', countedAt, occupied: wanted.size, fadesAt: null },
        });
        const known = await transaction.countedPlate.findMany({ where: { countId: count.id } });
        const knownKeys = new Set(known.map(plateKey));
        const added = [...wanted.values()].filter((plate) => !knownKeys.has(plateKey(plate)));
        const dropped = known.filter((plate) => !wanted.has(plateKey(plate)));
        if (count.before && added.length + dropped.length === 0) return;

        for (const part of partsOf(dropped, platesPerStatement)) {
          const removed = part.map(({ id }) => id);
          // When a plate is removed from an occupancy count, a database trigger removes the session that this plate
          // started. `updateOpenSessions` must still find this session, so `updateOpenSessions` runs first.
          await queryInTransaction(transaction, updateOpenSessions, { ...noSessions, removed, locationId });
          await transaction.countedPlate.deleteMany({ where: { id: { in: removed } } });
        }
        for (const part of partsOf(added, platesPerStatement)) {
          const matches = await matchesOf(transaction, location, part, countedAt);
          await queryInTransaction(transaction, insertPlates, {
            countId: count.id,
            id: part.map(() => newId()),
            ...plateArrays(part),
            whitelistEntryId: matches.map(({ whitelistEntryId }) => whitelistEntryId),
            listed: matches.map(({ listed }) => listed),
          });
        }
        const inside = await queryInTransaction<Plate>(transaction, insideAt, { locationId, countedAt });
        const changed = [...inside, ...dropped, ...added].map((plate): ChangedPlate => ({
          ...plate,
          occurredAt: countedAt,
        }));
        const sessions = await refreshSessions(transaction, author, location, changed, now);
        const isNow = (instant: Date | null) => instant?.getTime() === countedAt.getTime();
        const corrected = (session: ParkingSession) =>
          sessionState(session) === 'CORRECTED' && isNow(session.endedAt);
        await recordChange(transaction, author, {
          action: 'parking.inside_counted',
          targetId: count.id,
          companyId: location.companyId,
          locationId,
          changes: {
            countedAt,
            vehicles: wanted.size,
            opened: sessions.filter((session) => isNow(session.countedAt)).map(({ id }) => id),
            corrected: sessions.filter(corrected).map(({ id }) => id),
          },
        });
        await announceState(transaction, author, location);
      }),

    /**
     * Records how many vehicles were inside a location at a given time. `adjustOccupancy` does not change the parking
     * sessions. Together with the occupancy count, the gateway stores how many sessions were open at the time of the
     * count. After the occupancy count, the occupancy of the location is the number of open parking sessions plus an
     * occupancy adjustment. The occupancy adjustment (`adjustmentOf`) is the counted number of vehicles minus the
     * stored number of open parking sessions. A second call of `adjustOccupancy` for the same time replaces the counted
     * number of vehicles. If two calls of `adjustOccupancy` for the same time have the same number of vehicles, the
     * second call changes nothing.
     *
     * @param at the time at which the vehicles were counted; the default is the current time
     * @throws {ServiceError} the same errors as `setInside`
     */
    adjustOccupancy: (author: WaitingAuthor, locationId: string, occupied: number, at?: Date | null) =>
      change(author, locationId, async (transaction) => {
        const location = await lockLocation(transaction, locationId, author.key);
        const longestStayMs = longestStayMsOf(location);
        const countedAt = at ?? (await databaseNow(transaction));
        const count = await putCount(transaction, {
          ...{ locationId, kind: 'NUMBER', countedAt, occupied },
          fadesAt: longestStayMs === null ? null : new Date(countedAt.getTime() + longestStayMs),
        });
        if (count.before?.occupied === occupied) return;
        // If a client replaces an occupancy count, the gateway keeps the stored number of sessions that were open at
        // the time of the count, and does not count these sessions again. If the gateway counted the sessions again, it
        // could count too few, because the retention job may have removed some of them.
        if (!count.before) await queryInTransaction(transaction, countOpenSessions, { countId: count.id });
        await recordChange(transaction, author, {
          action: 'parking.occupancy_adjusted',
          targetId: count.id,
          companyId: location.companyId,
          locationId,
          changes: { countedAt, occupied },
        });
        await announceState(transaction, author, location);
      }),
  };
}

type CountValues = Pick<OccupancyCount, 'locationId' | 'kind' | 'countedAt' | 'occupied' | 'fadesAt'>;

/**
 * Stores an occupancy count of a location. If the location already has an occupancy count for the same time and of the
 * same kind (with or without plates), the new count replaces the old one. Returns the id of the stored occupancy count,
 * and the replaced occupancy count if one existed.
 */
async function putCount(transaction: Transaction, { locationId, kind, countedAt, ...values }: CountValues) {
  const key = { locationId, kind, countedAt };
  const before = await transaction.occupancyCount.findUnique({
    where: { locationId_countedAt_kind: key },
  });
  if (!before) {
    const { id } = await transaction.occupancyCount.create({ data: { id: newId(), ...key, ...values } });
    return { id, before };
  }
  if (before.occupied !== values.occupied) {
    const updatedAt = await databaseNow(transaction);
    await transaction.occupancyCount.update({ where: { id: before.id }, data: { ...values, updatedAt } });
  }
  return { id: before.id, before };
}

/** For each plate, returns the whitelist entry that matches the plate at the time of the occupancy count. */
async function matchesOf(
  transaction: Transaction,
  location: Location,
  plates: readonly Plate[],
  countedAt: Date,
) {
  const counted = plates.map((plate) => ({ plate }));
  const matches = await matchEntries(transaction, location.id, counted);
  return counted.map((vehicle) =>
    matchOf({ occurredAt: countedAt }, matches.get(vehicle), location.timezone),
  );
}
