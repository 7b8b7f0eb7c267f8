import type { Location } from '../../prisma/generated/client/client.ts';
import { type ChangeAuthor, recordChange } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { talliedOf } from '../database/location-tally.ts';
import { endOf, isInside, isUncertain, wasOpenAt } from './session-columns.ts';

/** The capacity of a location, null when unknown, and the number of vehicles inside. */
export interface CapacityUse {
  capacity: number | null;
  occupied: number;
}

/** Whether a location has free places; unknown without a capacity. */
export type LocationState = 'AVAILABLE' | 'FULL' | 'UNKNOWN';

/**
 * The number of free places, never below 0; null when the capacity is unknown (docs/contract.md#status-of-a-location).
 */
export function freePlaces({ capacity, occupied }: CapacityUse): number | null {
  return capacity === null ? null : Math.max(capacity - occupied, 0);
}

/** The state that follows from the number of free places. */
export function locationState(capacityUse: CapacityUse): LocationState {
  const free = freePlaces(capacityUse);
  if (free === null) return 'UNKNOWN';
  return free > 0 ? 'AVAILABLE' : 'FULL';
}

/** The last count of a location, of either kind. */
const lastCountOf = (locationId: string) => `
  SELECT * FROM "OccupancyCount" WHERE "locationId" = ${locationId} ORDER BY "countedAt" DESC, kind DESC LIMIT 1`;

/**
 * The time of the last count if it was a number that differed from the sessions; otherwise null. Retention must not
 * remove sessions after this time, because the remaining adjustment depends on them.
 */
export const differenceSince = (locationId: string) => `(
  SELECT k."countedAt" FROM (${lastCountOf(locationId)}) k WHERE k.kind = 'NUMBER' AND k.occupied <> k."openSessions")`;

/**
 * The remaining adjustment: the difference between the last counted number and the sessions that were open at that
 * time. It fades in two ways.
 *
 * - Vehicles without a session: the adjustment decreases with each exit of a vehicle that had no session. It ends when
 *   the longest stay has passed since the count.
 * - Sessions without a vehicle: the adjustment shrinks with each session open at the count that ends without an exit.
 *   It is never larger than the number of those sessions that are still open.
 */
const adjustmentOf = (locationId: string) => `coalesce((
  SELECT CASE
    WHEN k.occupied < k."openSessions"
      THEN -greatest(least(k."openSessions" - k.occupied - since."unseenEnds", since."stillOpen"), 0)
    WHEN k."countedAt" + make_interval(hours => l."longestStayHours") <= now() THEN 0
    ELSE greatest(k.occupied - k."openSessions" - since."unknownExits", 0)
  END
  FROM (${lastCountOf(locationId)}) k
  JOIN "Location" l ON l.id = k."locationId"
  CROSS JOIN LATERAL (
    SELECT
      count(*) FILTER (WHERE s."exitedAt" IS NOT NULL
        AND (s."enteredAt" IS NULL AND s."countedAt" IS NULL OR s."staysUntil" <= k."countedAt")) AS "unknownExits",
      count(*) FILTER (WHERE s."exitedAt" IS NULL AND NOT ${isInside('s')} AND ${wasOpenAt('s', 'k."countedAt"')}) AS "unseenEnds",
      count(*) FILTER (WHERE ${isInside('s')} AND ${wasOpenAt('s', 'k."countedAt"')}) AS "stillOpen"
    FROM "ParkingSession" s
    WHERE s."locationId" = k."locationId" AND ${endOf('s')} > k."countedAt" AND ${isUncertain('s')}
  ) since
  WHERE k.kind = 'NUMBER' AND k.occupied <> k."openSessions"
), 0)::int`;

/**
 * The columns that `occupiedOf` adds up for a location now, as SQL. Triggers keep the number of open sessions
 * (docs/decisions/location-tallies.md), so they are not counted here. Sessions whose longest stay is over are
 * subtracted.
 */
export const occupancyColumns = (locationId: string) => `
  (${talliedOf(locationId, 'openSessions')} - (
    SELECT count(*) FROM "ParkingSession" s
    WHERE s."locationId" = ${locationId} AND s.open AND s."staysUntil" <= now()))::int AS "openSessions",
  ${adjustmentOf(locationId)} AS adjustment`;

/** The parts of an occupancy. */
export interface OccupancyParts {
  openSessions: number;
  /** Vehicles inside without a session. Negative when open sessions have no vehicle. */
  adjustment: number;
}

/** The number of vehicles inside. */
export const occupiedOf = ({ openSessions, adjustment }: OccupancyParts) => openSessions + adjustment;

const occupancy = namedStatement('location-occupancy', `SELECT ${occupancyColumns('$locationId')}`);

/** Counts again how many sessions were open at the last counted number, if a change happened before it. */
const recount = namedStatement(
  'occupancy-count-sessions',
  `
  UPDATE "OccupancyCount" k SET "openSessions" = (
    SELECT count(*) FROM "ParkingSession" s
    WHERE s."locationId" = k."locationId" AND ${endOf('s')} > k."countedAt" AND ${wasOpenAt('s', 'k."countedAt"')}
  )
  WHERE k.id = (SELECT last.id FROM (${lastCountOf('$locationId')}) last) AND k.kind = 'NUMBER'
    AND k."countedAt" >= (SELECT min(changed) FROM unnest($changedAt::timestamptz[]) changed)`,
);

/**
 * Updates the number of sessions at the time of the last counted number. It is called in a transaction that has locked
 * the location.
 *
 * @param changedAt the times of the changed observations
 */
export async function recountSessions(
  transaction: Transaction,
  locationId: string,
  changedAt: readonly Date[],
): Promise<void> {
  await queryInTransaction(transaction, recount, { locationId, changedAt });
}

/**
 * Writes an audit record when a location has become full, or has free places again, since the last such record. It is
 * called in the transaction of a change that can cause this, which has locked the location.
 *
 * @param location its values after the change
 */
export async function announceState(
  transaction: Transaction,
  author: ChangeAuthor,
  { id, companyId, capacity, announcedFull }: Location,
): Promise<void> {
  const [parts] = await queryInTransaction<OccupancyParts>(transaction, occupancy, { locationId: id });
  const capacityUse: CapacityUse = { capacity, occupied: occupiedOf(parts!) };
  const state = locationState(capacityUse);
  // Without a capacity the state is unknown. The last announced state stays until there is a capacity again.
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
