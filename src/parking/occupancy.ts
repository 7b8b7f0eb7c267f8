import type { Location } from '../../prisma/generated/client/client.ts';
import { type ChangeAuthor, recordChange } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { talliedOf } from '../database/location-tally.ts';
import { endOf, isInside, isUncertain, wasOpenAt } from './session-columns.ts';

/** The capacity of a location and the number of vehicles inside. The capacity is null when it is unknown. */
export interface CapacityUse {
  capacity: number | null;
  occupied: number;
}

/** Whether a location has free places. The state is `UNKNOWN` when the capacity is unknown. */
export type LocationState = 'AVAILABLE' | 'FULL' | 'UNKNOWN';

/**
 * Returns the number of free places, which is never below 0. The result is null when the capacity is unknown
 * (docs/contract.md#status-of-a-location).
 */
export function freePlaces({ capacity, occupied }: CapacityUse): number | null {
  return capacity === null ? null : Math.max(capacity - occupied, 0);
}

/** Returns whether a location is available or full. The number of free places decides. */
export function locationState(capacityUse: CapacityUse): LocationState {
  const free = freePlaces(capacityUse);
  if (free === null) return 'UNKNOWN';
  return free > 0 ? 'AVAILABLE' : 'FULL';
}

/** SQL for the last count of a location. The count either lists the vehicles or is only a number. */
const lastCountOf = (locationId: string) => `
  SELECT * FROM "OccupancyCount" WHERE "locationId" = ${locationId} ORDER BY "countedAt" DESC, kind DESC LIMIT 1`;

/**
 * SQL for the time of the last count if this count was only a number and differed from the number of open sessions;
 * otherwise null. Retention must keep the sessions after this time, because the remaining adjustment depends on them.
 */
export const differenceSince = (locationId: string) => `(
  SELECT k."countedAt" FROM (${lastCountOf(locationId)}) k WHERE k.kind = 'NUMBER' AND k.occupied <> k."openSessions")`;

/**
 * SQL for the remaining adjustment of a location. A count can report only the number of vehicles inside. The adjustment
 * is then the difference between that number and the number of sessions that were open at the time. Later events reduce
 * the adjustment.
 *
 * - If there were more vehicles than sessions, each exit of a vehicle without a session reduces the adjustment. The
 *   adjustment ends when the maximum stay has passed since the count.
 * - If there were fewer vehicles than sessions, each session from the time of the count that ends without an exit
 *   reduces the adjustment. The adjustment is never larger than the number of sessions from that time that are still
 *   open.
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
 * SQL for the two columns from which `occupiedOf` computes the current occupancy of a location. Triggers maintain the
 * number of open sessions (docs/decisions/location-tallies.md), so the sessions are not counted here. Only sessions
 * whose maximum stay is over are counted, and subtracted.
 */
export const occupancyColumns = (locationId: string) => `
  (${talliedOf(locationId, 'openSessions')} - (
    SELECT count(*) FROM "ParkingSession" s
    WHERE s."locationId" = ${locationId} AND s.open AND s."staysUntil" <= now()))::int AS "openSessions",
  ${adjustmentOf(locationId)} AS adjustment`;

/** The two numbers from which the occupancy of a location is computed. */
export interface OccupancyParts {
  openSessions: number;
  /**
   * How many more vehicles are inside than there are open sessions. The number is negative when there are fewer
   * vehicles than sessions.
   */
  adjustment: number;
}

/** Returns how many vehicles are inside a location. */
export const occupiedOf = ({ openSessions, adjustment }: OccupancyParts) => openSessions + adjustment;

const occupancy = namedStatement('location-occupancy', `SELECT ${occupancyColumns('$locationId')}`);

/**
 * Counts again how many sessions were open at the time of the last count, if that count was only a number. This is
 * needed after a change of an earlier observation.
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
 * Updates the stored number of sessions that were open at the time of the last count, if that count was only a number.
 * The location must be locked in the caller's transaction.
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
 * Writes an audit record when a location has become full or has free places again. The state is compared with the last
 * audit record of this kind. The location must be locked in the caller's transaction.
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
  // Without a capacity, the state of the location is unknown. The last announced state then stays valid until the
  // location has a capacity again.
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
