import { namedStatement } from '../../database/named-statement.ts';
import type { Database, Sql } from '../../database/types.ts';
import { isMergeChange, samePlate, type WhitelistEntryValues } from '../columns.ts';
import { inputParameters, inputRows, type MergeMode, type MergeResult, statementParts } from './rows.ts';

/**
 * Finds the imported rows whose plate is already in the whitelist, and counts the rows that differ from the existing
 * entry.
 */
const compareRows = namedStatement(
  'whitelist-dry-run-compare',
  `
  WITH input AS (${inputRows})
  SELECT coalesce(jsonb_agg(excluded.id), '[]') AS taken, count(*) FILTER (WHERE ${isMergeChange})::int AS changed
  FROM (SELECT i.*, i."newId" AS id FROM input i) AS excluded
  JOIN "WhitelistEntry" w ON w."locationId" = $locationId AND ${samePlate('w', 'excluded')}`,
);

const countEntries = namedStatement(
  'whitelist-dry-run-count',
  `SELECT count(*)::int AS count FROM "WhitelistEntry" WHERE "locationId" = $locationId`,
);

/** Creates the function that predicts the result of an import and changes nothing. */
export function createDryRun({ sql, kind }: { sql: Sql; kind: Database['kind'] }) {
  /**
   * Predicts what an import would do to a whitelist. All rows must have different plates. The function takes no locks.
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
      result.deleted = found!.count - result.isNew.filter((isNew) => !isNew).length;
    }
    return result;
  };
}
