import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import type { Transaction } from '../database/types.ts';
import { newId } from '../ids.ts';
import { activeTraceparent } from '../observability/spans.ts';
import { type AuditAction, sqlAction } from './actions.ts';

/** The description of a change, for the audit log. */
export interface AuditedChange {
  /** The name of the change. */
  action: AuditAction;
  /** The id of the changed object. */
  targetId: string;
  companyId?: string | null;
  locationId?: string;
  /** The new values after the change, or the old and new values, as they appear in JSON. Secrets are never included. */
  changes?: object;
}

/** The author of a change. The key is null for a change by the service itself. */
export interface ChangeAuthor {
  key: { id: string } | null;
  requestId: string;
}

/**
 * Writes the audit record of a change (docs/contract.md#all-use-is-logged). The caller passes the transaction of the
 * change, so that the change and its record are committed together or not at all. Webhooks are also triggered by the
 * record.
 *
 * @returns the identifier of the record
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
 * This statement is SQL for two reasons. Prisma blocks the process for a tenth of a second when it writes hundreds of
 * records, and Prisma drops the members `__proto__` and `$type` of a JSON value.
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
 * Writes the audit records of many changes, in the given order.
 *
 * @returns the identifiers of the records
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
 * The SQL that writes the audit record in a hand-written statement. The statement adds the `FROM` clause and passes
 * `auditParameters`. Use `recordChange` for changes made with Prisma.
 *
 * @param location the alias of a table with the `id` and `companyId` of the location
 * @param targetId an SQL expression for the id of the changed object; `changes` is one for the JSON to record
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

/** The named parameters of `insertAuditRecord`. */
export function auditParameters({ key, requestId }: { key: { id: string }; requestId: string }) {
  return {
    auditId: newId(),
    auditApiKeyId: key.id,
    auditRequestId: requestId,
    auditTraceparent: activeTraceparent(),
  };
}
