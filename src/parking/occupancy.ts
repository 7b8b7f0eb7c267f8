import type { Location } from '../../prisma/generated/client/client.ts';
import { type ChangeAuthor, recordChange } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { talliedOf } from '../database/location-tally.ts';
import { endOf, isInside, isUncertain, wasOpenAt } from './session-columns.ts';

/** The capacity of a location, or null when the capacity is unknown, and the number of vehicles inside. */
export interface CapacityUse {
  capacity: number | null;
  occupied: number;
}

/** Whether a location has free places. The state is `UNKNOWN` without a capacity. */
export type LocationState = 'AVAILABLE' | 'FULL' | 'UNKNOWN';

/**
 * Returns the number of free places, never below 0. The result is null when the capacity is unknown
 * (docs/contract.md#status-of-a-location).
 */
export function freePlaces({ capacity, occupied }: CapacityUse): number | null {
  return capacity === null ? null : Math.max(capacity - occupied, 0);
}

/** Returns the state that follows from the number of free places. */
export function locationState(capacityUse: CapacityUse): LocationState {
  const free = freePlaces(capacityUse);
  if (free === null) return 'UNKNOWN';
  return free > 0 ? 'AVAILABLE' : 'FULL';
}

/** SQL for the last count of a location, whether the count lists vehicles or is only a number. */
const lastCountOf = (locationId: string) => `
  SELECT * FROM "OccupancyCount" WHERE "locationId" = ${locationId} ORDER BY "countedAt" DESC, kind DESC LIMIT 1`;

/**
 * SQL for the time of the last count if that count was a number and differed from the sessions; otherwise null.
 * Retention must keep sessions after this time, because the remaining adjustment depends on them.
 */
export const differenceSince = (locationId: string) => `(
  SELECT k."countedAt" FROM (${lastCountOf(locationId)}) k WHERE k.kind = 'NUMBER' AND k.occupied <> k."openSessions")`;

/**
 * SQL for the remaining adjustment of a location. The adjustment is the difference between the last counted number and
 * the sessions that were open at that time. The adjustment decreases in two ways.
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
 * SQL for the columns that `occupiedOf` adds up to the current occupancy of a location. The open sessions are not
 * counted here, because triggers maintain their number (docs/decisions/location-tallies.md). Sessions whose longest
 * stay is over are subtracted.
 */
export const occupancyColumns = (locationId: string) => `
  (${talliedOf(locationId, 'openSessions')} - (
    SELECT count(*) FROM "ParkingSession" s
    WHERE s."locationId" = ${locationId} AND s.open AND s."staysUntil" <= now()))::int AS "openSessions",
  ${adjustmentOf(locationId)} AS adjustment`;

/** The parts of an occupancy. */
export interface OccupancyParts {
  openSessions: number;
  /** The number of vehicles inside without a session. The number is negative when open sessions have no vehicle. */
  adjustment: number;
}

/** Returns the number of vehicles inside. */
export const occupiedOf = ({ openSessions, adjustment }: OccupancyParts) => openSessions + adjustment;

const occupancy = namedStatement('location-occupancy', `SELECT ${occupancyColumns('$locationId')}`);

/**
 * Counts again how many sessions were open at the time of the last counted number. This is needed after a change of an
 * earlier observation.
 */
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
 * Updates the stored number of sessions at the time of the last counted number. The caller passes a transaction that
 * has locked the location.
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
 * Writes an audit record when a location has become full, or has free places again, since the last such record. The
 * caller passes the transaction of a change that can cause this, which has locked the location.
 *
 * @param location the values of the location after the change
 */
export async function announceState(
  transaction: Transaction,
  author: ChangeAuthor,
  { id, companyId, capacity, announcedFull }: Location,
): Promise<void> {
  const [parts] = await queryInTransaction<OccupancyParts>(transaction, occupancy, { locationId: id });
  const capacityUse: CapacityUse = { capacity, occupied: occupiedOf(parts!) };
  const state = locationState(capacityUse);
  // Without a capacity the state is unknown. The announced state then stays until the location has a capacity again.
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
