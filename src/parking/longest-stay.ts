import type { Location } from '../../prisma/generated/client/client.ts';
import type { ChangeAuthor } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { partsWithin } from '../database/parts.ts';
import { type ChangedPlate, refreshSessions } from './refresh-sessions.ts';
import { longFamilies, setEnds, setFades } from './stay-statements.ts';

/**
 * The maximum number of parking sessions that the gateway recalculates in one step after a change of the maximum stay.
 * During one step, the parking events and occupancy counts of all sessions in the step are in memory. If a step
 * recalculates fewer parking sessions, it therefore needs less memory. The gateway recalculates all parking sessions of
 * a plate family (`familyOf`) in the same step. If one plate family has more than 500 parking sessions, one step
 * therefore recalculates more than 500 sessions.
 */
const sessionsPerRefresh = 500;

/**
 * A plate family consists of all plates with the same last two characters (`familyOf`). A `LongFamily` is a plate
 * family whose parking sessions may change when the location gets a new maximum stay. `LongFamily` contains one plate
 * of the family, the number of sessions that may change, and the start of the first session that may change.
 */
type LongFamily = ChangedPlate & { sessions: number };

/**
 * After a change of a location's maximum stay, recalculates the parking sessions of this location. The new maximum stay
 * applies to all sessions, including sessions that began before the change. The caller must lock the location in
 * `transaction` before it calls this function.
 *
 * @param now the current time, read from the clock of the database
 */
export async function applyLongestStay(
  transaction: Transaction,
  author: ChangeAuthor,
  { before, after }: { before: Location; after: Location },
  now: Date,
): Promise<void> {
  const { id: locationId, longestStayHours } = after;
  await queryInTransaction(transaction, setFades, { locationId, hours: longestStayHours });
  const hours = Math.min(before.longestStayHours ?? Infinity, longestStayHours ?? Infinity);
  const families = await queryInTransaction<LongFamily>(transaction, longFamilies, { locationId, hours });
  for (const part of partsWithin(sessionsPerRefresh, families, ({ sessions }) => sessions)) {
    await refreshSessions(transaction, author, after, part, now);
  }
  // Every parking session that the gateway does not recalculate is shorter than both the old and the new maximum stay.
  // For parking sessions that the gateway does not recalculate, `setEnds` changes only the time at which the maximum
  // stay is over. This change does not affect the number of sessions that were open at the time of the last occupancy
  // count.
  await queryInTransaction(transaction, setEnds, { locationId, hours: longestStayHours });
}
