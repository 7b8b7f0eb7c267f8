import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import type { Transaction } from '../database/types.ts';
import { newId } from '../ids.ts';
import { activeTraceparent } from '../observability/spans.ts';
import { type AuditAction, sqlAction } from './actions.ts';

/** A change that is written to the audit log. */
export interface AuditedChange {
  /** The name of the kind of change, such as `company.registered`. */
  action: AuditAction;
  /** The id of the changed object. */
  targetId: string;
  companyId?: string | null;
  locationId?: string;
  /**
   * The new values after the change, or the old and the new values, in the form of JSON. Secrets are never included.
   */
  changes?: object;
}

/** The author of a change. The API key is null when the gateway itself makes the change. */
export interface ChangeAuthor {
  key: { id: string } | null;
  requestId: string;
}

/**
 * Writes the audit record of a change (docs/contract.md#all-use-is-logged). The caller passes the transaction of the
 * change, so that the change and its audit record are committed together or not at all. The new audit record also
 * triggers webhooks.
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
 * This statement is hand-written SQL for two reasons. Prisma would block the process for a tenth of a second to write
 * hundreds of audit records. Prisma also drops the members `__proto__` and `$type` of a JSON value.
 */
const insertRecords = namedStatement(
  'audit-records-insert',
  `
  INSERT INTO "AuditRecord"
    (id, "apiKeyId", "requestId", traceparent, action, "companyId", "locationId", "targetId", changes)
  SELECT r.id, $apiKeyId, $requestId, $traceparent, r.action, r."companyId", r."locationId", r."targetId",
    r.changes::jsonb
  FROM unnest($id::text[], $action::text[], $companyId::text[], $locationId::text[], $targetId::text[], $changes::text[])
    WITH ORDINALITY AS r(id, action, "companyId", "locationId", "targetId", changes, n)
  ORDER BY r.n`,
);

/**
 * Writes the audit records of many changes in the given order.
 *
 * @returns the identifiers of the audit records
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
 * Returns SQL that writes an audit record as part of a hand-written statement. The statement must add the `FROM` clause
 * and pass `auditParameters`. Changes made with Prisma use `recordChange` instead.
 *
 * @param location the alias of a table with the `id` and `companyId` of the location
 * @param targetId an SQL expression for the id of the changed object; `changes` is an SQL expression for the JSON to
 *   record
 */
export function insertAuditRecord(
  action: AuditAction,
  { location, targetId, changes }: { location: string; targetId: string; changes: string },
): string {
  return `
    INSERT INTO "AuditRecord" (id, "apiKeyId", "requestId", traceparent, action, "companyId", "locationId", "targetId", changes)
    SELECT $auditId, $auditApiKeyId, $auditRequestId, $auditTraceparent, ${sqlAction(action)}, ${location}."companyId", ${location}.id,
      ${targetId}, ${changes}`;
}

/** Returns the parameters that the SQL of `insertAuditRecord` needs. */
export function auditParameters({ key, requestId }: { key: { id: string }; requestId: string }) {
  return {
    auditId: newId(),
    auditApiKeyId: key.id,
    auditRequestId: requestId,
    auditTraceparent: activeTraceparent(),
  };
}
