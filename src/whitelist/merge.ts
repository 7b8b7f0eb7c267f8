import { auditParameters, insertAuditRecord } from '../audit/record.ts';
import type { Author } from '../auth/key.ts';
import { scopeParameters } from '../auth/scope.ts';
import { namedStatement } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import { locationNotFound } from '../errors/error-table.ts';
import { lockedLocation } from '../locations/lock.ts';
import type { Turns } from '../locations/turns.ts';
import type { WhitelistEntryValues } from './columns.ts';
import { inputParameters, inputRows, type MergeMode, type MergeResult, writeRows } from './import-rows.ts';

/**
 * The whole merge of one batch with its audit record. No two long tables are joined: a prepared plan expects ten rows,
 * and a nested loop over thousands would take long. `IN` without outer references is hashed under any plan.
 *
 * It locks the location: merges that lock the same plates in different orders would otherwise be a deadlock.
 */
const mergeStatement = (mode: MergeMode) =>
  namedStatement(
    `whitelist-merge ${mode}`,
    `
    WITH reached AS (${lockedLocation}),
    input AS (${inputRows}),
    written AS (${writeRows(mode === 'CREATE' ? 'skip' : 'update')}),
    changes AS (
      SELECT jsonb_agg(id) FILTER (WHERE "isNew") AS created, jsonb_agg(id) FILTER (WHERE NOT "isNew") AS updated
      FROM written
    ), audited AS (
      ${insertAuditRecord('whitelist.imported', {
        location: 'reached',
        targetId: 'reached.id',
        changes: `jsonb_strip_nulls(jsonb_build_object('mode', '${mode}', 'created', created, 'updated', updated))`,
      })}
      FROM reached, changes WHERE coalesce(created, updated) IS NOT NULL
    )
    SELECT coalesce(created, '[]') AS created, coalesce(jsonb_array_length(updated), 0) AS updated
    FROM reached, changes`,
  );

const mergeStatements = { CREATE: mergeStatement('CREATE'), UPSERT: mergeStatement('UPSERT') };

/** Prepares the merge of batches. */
export function createWhitelistMerge({ sql, locationTurns }: { sql: Sql; locationTurns: Turns }) {
  /**
   * Merges a batch of rows into the whitelist of a location, in one statement with its audit record; a batch that changes
   * nothing leaves none. No two rows may have the same plate.
   *
   * @throws {ServiceError} `NOT_FOUND` for a location out of reach
   */
  return async function merge(
    author: Author,
    locationId: string,
    entries: readonly WhitelistEntryValues[],
    mode: Exclude<MergeMode, 'REPLACE'>,
  ): Promise<MergeResult> {
    const statement = mergeStatements[mode];
    const input = inputParameters(entries);
    const parameters = { locationId, ...input, ...scopeParameters(author.key), ...auditParameters(author) };
    const [merged] = await locationTurns.run(
      locationId,
      () => sql.query<{ created: string[]; updated: number }>(statement, statement.values(parameters)),
      { mayRefuse: false }, // The import has begun: its other batches may be committed.
    );
    if (!merged) throw locationNotFound(locationId);
    const created = new Set(merged.created);
    return { isNew: input.newIds.map((id) => created.has(id)), updated: merged.updated, deleted: 0 };
  };
}
