import type { ParkingEvent } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';

/** A parking event before and after a change. `before` is undefined for a new event. */
export interface EventChange {
  before: ParkingEvent | undefined;
  after: ParkingEvent;
}

/** Whether an event was already recorded as an entry of the same whitelist entry. Such an event is already counted. */
export const isSameEntry = (before: ParkingEvent | undefined, after: ParkingEvent): before is ParkingEvent =>
  before?.kind === 'ENTRY' &&
  after.kind === 'ENTRY' &&
  before.whitelistEntryId !== null &&
  before.whitelistEntryId === after.whitelistEntryId;

/**
 * Adds to or subtracts from the number of recorded entries of whitelist entries. A whitelist entry with a limit is also
 * marked as changed, so that the feed reports the new number to clients that keep a copy of the whitelist.
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
 * Updates the number of recorded entries of whitelist entries after events were added or corrected. The caller passes
 * the transaction of that change, which has locked the location. Events that retention removes stay counted.
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
