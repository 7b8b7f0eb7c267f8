import type { ParkingEvent } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';

/** A parking event before and after it was recorded or corrected. `before` is undefined for a new event. */
export interface EventChange {
  before: ParkingEvent | undefined;
  after: ParkingEvent;
}

/**
 * Whether an event was already an entry with the same whitelist entry before its correction. The event has then been
 * counted before.
 */
export const isSameEntry = (before: ParkingEvent | undefined, after: ParkingEvent): before is ParkingEvent =>
  before?.kind === 'ENTRY' &&
  after.kind === 'ENTRY' &&
  before.whitelistEntryId !== null &&
  before.whitelistEntryId === after.whitelistEntryId;

/**
 * Changes the number of times that the vehicles of whitelist entries have entered. A whitelist entry with a limit is
 * also marked as changed. The feed then sends the new number to clients that have a copy of the whitelist.
 */
const addUses = namedStatement(
  'parking-add-uses',
  `
  WITH changed AS (
    SELECT e.id, e."maxEntries", c.change FROM unnest($entryId::text[], $change::int[]) AS c("entryId", change)
    JOIN "WhitelistEntry" e ON e.id = c."entryId" AND e."locationId" = $locationId
  ), lowered AS (
    UPDATE "WhitelistEntryUse" u SET recorded = greatest(u.recorded + c.change, 0)
    FROM changed c WHERE u."entryId" = c.id AND c.change < 0
  ), touched AS (
    UPDATE "WhitelistEntry" e SET version = e.version
    FROM changed c WHERE e.id = c.id AND c."maxEntries" IS NOT NULL
  )
  INSERT INTO "WhitelistEntryUse" AS u ("entryId", recorded)
  SELECT id, change FROM changed WHERE change > 0
  ON CONFLICT ("entryId") DO UPDATE SET recorded = u.recorded + excluded.recorded`,
);

/**
 * Updates how many times the vehicles of whitelist entries have entered, after events were added or corrected. The
 * location must be locked in the caller's transaction. Events that retention has removed stay counted.
 */
export async function countEntries(
  transaction: Transaction,
  locationId: string,
  changes: readonly EventChange[],
): Promise<void> {
  const byEntry = new Map<string, number>();
  const add = (event: ParkingEvent | undefined, change: number) => {
    if (event?.kind !== 'ENTRY' || event.whitelistEntryId === null) return;
    byEntry.set(event.whitelistEntryId, (byEntry.get(event.whitelistEntryId) ?? 0) + change);
  };
  for (const { before, after } of changes) {
    add(before, -1);
    add(after, 1);
  }
  const changed = [...byEntry].filter(([, change]) => change !== 0);
  if (changed.length === 0) return;
  await queryInTransaction(transaction, addUses, {
    locationId,
    entryId: changed.map(([entryId]) => entryId),
    change: changed.map(([, change]) => change),
  });
}
