import { queryInTransaction } from '../database/named-statement.ts';
import type { Transaction } from '../database/types.ts';
import { newId } from '../ids.ts';
import { activeTraceparent } from '../observability/spans.ts';
import type { AuditAction } from './actions.ts';
import { insertRecords } from './statements.ts';

/** A change that is written to the audit log. */
export interface AuditedChange {
  /** The name of the kind of change, such as `company.registered`. */
  action: AuditAction;
  /** The id of the changed object. */
  targetId: string;
  companyId?: string | null;
  locationId?: string;
  /**
   * The values of the changed object as JSON: the values after the change, or both the old and the new values. The
   * values in an audit record never contain secrets.
   */
  changes?: object;
}

/** The author of a change. `key` is null when the gateway itself makes the change. */
export interface ChangeAuthor {
  key: { id: string } | null;
  requestId: string;
}

/**
 * Writes the audit record of a change (docs/contract-keys.md#all-use-is-logged). The caller passes the transaction of
 * the change, so that the change and its audit record are committed together or not at all. A webhook that subscribes
 * to this kind of change gets a message about the new audit record.
 *
 * @returns the identifier of the audit record
 */
export async function recordChange(
  transaction: Transaction,
  author: ChangeAuthor,
  change: AuditedChange,
): Promise<string> {
  const [id] = await recordChanges(transaction, author, [change]);
  return id!;
}

/**
 * Writes one audit record for each of the given changes, in the given order.
 *
 * @returns the ids of the new audit records, in the order of the changes
 */
export async function recordChanges(
  transaction: Transaction,
  author: ChangeAuthor,
  changes: readonly AuditedChange[],
): Promise<string[]> {
  if (changes.length === 0) return [];
  const id = changes.map(() => newId());
  await queryInTransaction(transaction, insertRecords, {
    apiKeyId: author.key?.id ?? null,
    requestId: author.requestId,
    traceparent: activeTraceparent(),
    id,
    action: changes.map(({ action }) => action),
    companyId: changes.map(({ companyId }) => companyId ?? null),
    locationId: changes.map(({ locationId }) => locationId ?? null),
    targetId: changes.map(({ targetId }) => targetId),
    changes: changes.map((change) => (change.changes ? JSON.stringify(change.changes) : null)),
  });
  return id;
}

/**
 * Returns the SQL parameters for one audit record: the id of the record, the ids of the author's API key and request,
 * and the trace context. The SQL text that `insertAuditRecord` returns uses these parameters.
 */
export function auditParameters({ key, requestId }: { key: { id: string }; requestId: string }) {
  return {
    auditId: newId(),
    auditApiKeyId: key.id,
    auditRequestId: requestId,
    auditTraceparent: activeTraceparent(),
  };
}
