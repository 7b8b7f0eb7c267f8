import { auditParameters, insertAuditRecord } from '../../audit/record.ts';
import type { Author } from '../../auth/key.ts';
import { scopeParameters } from '../../auth/scope.ts';
import { namedStatement } from '../../database/named-statement.ts';
import type { Sql } from '../../database/types.ts';
import { locationNotFound } from '../../errors/error-table.ts';
import { lockedLocation } from '../../location-access/lock.ts';
import type { Slots } from '../../scheduling/slots.ts';
import type { WhitelistEntryValues } from '../columns.ts';
import { inputParameters, inputRows, type MergeMode, type MergeResult, writeRows } from './rows.ts';

/**
 * Returns the statement that writes one batch of rows and its audit record. The statement does not join long tables.
 * PostgreSQL plans a prepared statement for ten rows, and would compare every row with every other row. `IN` with an
 * uncorrelated subquery uses a hash table under any plan. The statement locks the location; otherwise, two imports that
 * lock the same plates in different orders would deadlock.
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

/** Creates the function that writes batches of rows to a whitelist. */
export function createWhitelistMerge({ sql, locationSlots }: { sql: Sql; locationSlots: Slots }) {
  /**
   * Writes a batch of rows to the whitelist of a location, and writes an audit record if something changed. All rows
   * must have different plates.
   *
   * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope
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
    const [merged] = await locationSlots.run(
      locationId,
      () => sql.query<{ created: string[]; updated: number }>(statement, statement.values(parameters)),
      // This batch must not be refused, because earlier batches of the import may already be committed.
      { mayRefuse: false },
    );
    if (!merged) throw locationNotFound(locationId);
    const created = new Set(merged.created);
    return { isNew: input.newIds.map((id) => created.has(id)), updated: merged.updated, deleted: 0 };
  };
}
