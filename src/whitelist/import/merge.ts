import { auditParameters } from '../../audit/record.ts';
import type { WaitingAuthor } from '../../auth/key.ts';
import { scopeParameters } from '../../auth/scope.ts';
import type { Sql } from '../../database/types.ts';
import { locationNotFound } from '../../errors/error-table.ts';
import type { LocationSlots } from '../../location-access/location-slots.ts';
import type { InputParameters, MergeMode, MergeResult } from './rows.ts';
import { mergeStatements } from './statements.ts';

/** Creates the function that writes batches of rows to a whitelist. */
export function createWhitelistMerge({ sql, locationSlots }: { sql: Sql; locationSlots: LocationSlots }) {
  /**
   * Writes a batch of rows to the whitelist of a location, and writes an audit record if something changed. The rows of
   * a batch must all have different plates.
   *
   * @param input the SQL parameters that contain the rows
   * @param options.mayRefuse whether the gateway may refuse the batch. `mayRefuse` is false when the import has already
   *   written an earlier batch
   * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many changes of the location are waiting, or when this change
   *   has waited too long for earlier changes
   */
  return async function merge(
    author: WaitingAuthor,
    locationId: string,
    input: InputParameters,
    { mode, mayRefuse }: { mode: Exclude<MergeMode, 'REPLACE'>; mayRefuse: boolean },
  ): Promise<MergeResult> {
    const statement = mergeStatements[mode];
    const parameters = { locationId, ...input, ...scopeParameters(author.key), ...auditParameters(author) };
    const [merged] = await locationSlots.run(
      author,
      locationId,
      () => sql.query<{ created: string[]; updated: number }>(statement, statement.values(parameters)),
      { mayRefuse },
    );
    if (!merged) throw locationNotFound(locationId);
    const created = new Set(merged.created);
    return { isNew: input.newIds.map((id) => created.has(id)), updated: merged.updated, deleted: 0 };
  };
}
