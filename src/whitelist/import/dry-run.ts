import type { Database, Sql } from '../../database/types.ts';
import type { WhitelistEntryValues } from '../columns.ts';
import { inputParameters, type MergeMode, type MergeResult, statementParts } from './rows.ts';
import { compareRows, countEntries } from './statements.ts';

/** Creates a function that predicts the changes of an import. The created function only reads the whitelist. */
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
      // Between the comparison of the rows and the count of the whitelist entries, another request can delete whitelist
      // entries. If the whitelist has become shorter in the meantime, `kept` can be greater than `found.count`. Then
      // the function returns 0 as the number of deleted entries, and not a negative number.
      result.deleted = Math.max(found!.count - kept, 0);
    }
    return result;
  };
}
