import type { Location } from '../../prisma/generated/client/client.ts';
import { type ChangeAuthor, recordChange, type Transaction } from '../audit/record.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { endOf, isInside, isUncertain, wasOpenAt } from '../parking/session-columns.ts';

/** How many vehicles fit, null when unknown, and how many are inside. */
export interface Room {
  capacity: number | null;
  occupied: number;
}

/** Whether a location has room; unknown without a capacity. */
export type LocationState = 'AVAILABLE' | 'FULL' | 'UNKNOWN';

/** Free places, never below 0; null when the capacity is unknown (decisions, "status of a location"). */
export function freePlaces({ capacity, occupied }: Room): number | null {
  return capacity === null ? null : Math.max(capacity - occupied, 0);
}

/** The state that follows from the free places. */
export function locationState(room: Room): LocationState {
  const free = freePlaces(room);
  if (free === null) return 'UNKNOWN';
  return free > 0 ? 'AVAILABLE' : 'FULL';
}

/** The last count of a location, whatever was counted. */
const lastCountOf = (locationId: string) => `
  SELECT * FROM "OccupancyCount" WHERE "locationId" = ${locationId} ORDER BY "countedAt" DESC, kind DESC LIMIT 1`;

/**
 * When the number was counted that a location still differs from its sessions by; null when it does not, or when the
 * vehicles themselves were counted since. What retention removes must not change how far the difference has faded.
 */
export const differenceSince = (locationId: string) => `(
  SELECT k."countedAt" FROM (${lastCountOf(locationId)}) k WHERE k.kind = 'NUMBER' AND k.occupied <> k."openSessions")`;

/**
 * What is left of the difference between the last number that was counted and the sessions that were open then.
 *
 * - Vehicles that have no session: one less with each exit of a vehicle that had none, and none when the longest stay is
 *   over since.
 * - Sessions that have no vehicle: one less with each session of that time that ended otherwise than by an exit, and no
 *   more than sessions of that time are still open.
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

/** What `occupiedOf` adds up for a location now, as columns of SQL. */
export const occupancyColumns = (locationId: string) => `
  (SELECT count(*) FROM "ParkingSession" s WHERE s."locationId" = ${locationId} AND ${isInside('s')})::int AS "openSessions",
  ${adjustmentOf(locationId)} AS adjustment`;

/** The parts of an occupancy. */
export interface OccupancyParts {
  openSessions: number;
  /** How many vehicles are inside that no session knows; below 0 when so many open sessions have no vehicle. */
  adjustment: number;
}

/** How many vehicles are inside. */
export const occupiedOf = ({ openSessions, adjustment }: OccupancyParts) => openSessions + adjustment;

const occupancy = namedStatement('location-occupancy', `SELECT ${occupancyColumns('$locationId')}`);

/** Counts again how many sessions were open when the last number was counted, if one of some changes was before that. */
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
 * Keeps the difference between the last number that was counted and the sessions of that time. Called in a transaction
 * that has locked the location.
 *
 * @param changedAt when what changed was seen
 */
export async function recountSessions(
  transaction: Transaction,
  locationId: string,
  changedAt: readonly Date[],
): Promise<void> {
  await queryInTransaction(transaction, recount, { locationId, changedAt });
}

/**
 * Leaves an audit record when the last place of a location was taken since the last such record, or a place of a full one
 * became free. Called in the transaction of a change that may do either, which has locked the location.
 *
 * @param location as it is after the change
 */
export async function announceState(
  transaction: Transaction,
  author: ChangeAuthor,
  { id, companyId, capacity, announcedFull }: Location,
): Promise<void> {
  const [parts] = await queryInTransaction<OccupancyParts>(transaction, occupancy, { locationId: id });
  const room: Room = { capacity, occupied: occupiedOf(parts!) };
  const state = locationState(room);
  const isFull = state === 'FULL';
  if (isFull === announcedFull) return;
  await transaction.location.update({ where: { id }, data: { announcedFull: isFull } });
  if (state === 'UNKNOWN') return;
  await recordChange(transaction, author, {
    action: isFull ? 'location.full' : 'location.available',
    targetId: id,
    companyId,
    locationId: id,
    changes: room,
  });
}
