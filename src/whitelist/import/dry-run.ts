import type { Database, Sql } from '../../database/types.ts';
import type { WhitelistEntryValues } from '../columns.ts';
import { inputParameters, type MergeMode, type MergeResult, statementParts } from './rows.ts';
import { compareRows, countEntries } from './statements.ts';

/** Creates the function that predicts the changes of an import, but does not change the whitelist. */
export function createDryRun({ sql, kind }: { sql: Sql; kind: Database['kind'] }) {
  /**
   * Predicts what an import would do to a whitelist. No two imported rows may have the same plate. A dry run locks
   * neither the location nor its whitelist entries, so other requests can change the whitelist at the same time.
   */
  return async function dryRun(
    locationId: string,
    entries: readonly WhitelistEntryValues[],
    mode: MergeMode,
  ): Promise<MergeResult> {
    const result: MergeResult = { isNew: [], updated: 0, deleted: 0 };
    for (const part of statementParts(entries, kind)) {
      const input = inputParameters(part);
      const [compared] = await sql.query<{ taken: string[]; changed: number }>(
        compareRows,
        compareRows.values({ locationId, ...input }),
      );
      const taken = new Set(compared!.taken);
      result.isNew.push(...input.newIds.map((id) => !taken.has(id)));
      if (mode !== 'CREATE') result.updated += compared!.changed;
    }
    if (mode === 'REPLACE') {
      const [found] = await sql.query<{ count: number }>(countEntries, countEntries.values({ locationId }));
      const kept = result.isNew.filter((isNew) => !isNew).length;
      // Another request can delete whitelist entries after this function has compared the rows and before it counts the
      // entries. If the whitelist has become shorter in the meantime, `kept` can be greater than `found.count`, and the
      // difference `found.count - kept` would be negative.
      result.deleted = Math.max(found!.count - kept, 0);
    }
    return result;
  };
}
