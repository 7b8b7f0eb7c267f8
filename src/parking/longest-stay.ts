import type { Location } from '../../prisma/generated/client/client.ts';
import type { ChangeAuthor } from '../audit/record.ts';
import type { Transaction } from '../database/types.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { partsWithin } from '../database/parts.ts';
import { type ChangedPlate, refreshSessions } from './refresh-sessions.ts';
import { longFamilies, setEnds, setFades } from './stay-statements.ts';

/**
 * The maximum number of sessions that the gateway computes in one step. Small steps need less memory, because the
 * gateway keeps the events and counts of all sessions of one step in memory. The gateway always computes the sessions
 * of one family of plates together, even if the family has more than `sessionsPerRefresh` sessions.
 */
const sessionsPerRefresh = 500;

/**
 * A family of plates (`familyOf`) with sessions that a new maximum stay may change: one plate of the family, the number
 * of these sessions, and the start of the first session.
 */
type LongFamily = ChangedPlate & { sessions: number };

/**
 * Computes the sessions of a location again after a change of its maximum stay. The result is the same as if the
 * location had always had the new maximum stay. The caller must first lock the location in its transaction.
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
  // Sessions that are shorter than the old and the new maximum stay are not computed again. `setEnds` changes only the
  // end of the maximum stay of these sessions, so the number of open sessions that is stored with the last occupancy
  // count stays correct.
  await queryInTransaction(transaction, setEnds, { locationId, hours: longestStayHours });
}
