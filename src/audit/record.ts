import type { Prisma } from '../../prisma/generated/client/client.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { newId } from '../ids.ts';
import { activeTraceparent } from '../telemetry/spans.ts';
import { type AuditAction, sqlAction } from './actions.ts';

/** A Prisma client inside of a transaction. */
export type Transaction = Prisma.TransactionClient;

/** What a change did, for the audit log. */
export interface AuditedChange {
  /** What happened. */
  action: AuditAction;
  /** The id of what changed. */
  targetId: string;
  companyId?: string | null;
  locationId?: string;
  /** The values after the change, or before and after, as JSON shows them; never a secret. */
  changes?: object;
}

/** Who changed something; without a key it was the service itself. */
export interface ChangeAuthor {
  key: { id: string } | null;
  requestId: string;
}

/** The record of a change, as it is stored. */
const recordOf = (author: ChangeAuthor, { changes, ...change }: AuditedChange) => ({
  id: newId(),
  apiKeyId: author.key?.id ?? null,
  requestId: author.requestId,
  traceparent: activeTraceparent(),
  ...change,
  ...(changes && { changes: JSON.parse(JSON.stringify(changes)) as Prisma.InputJsonObject }),
});

/**
 * Leaves the record of a change (decisions, "all use is logged"). Called in the transaction of the
 * change, so that there is never one without the other. Webhooks hear of what is recorded here.
 *
 * @returns the identifier of the record
 */
export async function recordChange(
  transaction: Transaction,
  author: ChangeAuthor,
  change: AuditedChange,
): Promise<string> {
  const data = recordOf(author, change);
  await transaction.auditRecord.create({ data });
  return data.id;
}

/** Prisma would take a tenth of a second of the process for hundreds of records. */
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

/** Leaves the records of many changes, in their order, as `recordChange` would one by one. */
export async function recordChanges(
  transaction: Transaction,
  author: ChangeAuthor,
  changes: readonly AuditedChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await queryInTransaction(transaction, insertRecords, {
    apiKeyId: author.key?.id ?? null,
    requestId: author.requestId,
    traceparent: activeTraceparent(),
    id: changes.map(() => newId()),
    action: changes.map(({ action }) => action),
    companyId: changes.map(({ companyId }) => companyId ?? null),
    locationId: changes.map(({ locationId }) => locationId ?? null),
    targetId: changes.map(({ targetId }) => targetId),
    changes: changes.map((change) => (change.changes ? JSON.stringify(change.changes) : null)),
  });
}

/**
 * The text that leaves the audit record of a hand-written statement: `recordChange` for those that are not Prisma's.
 * The statement adds the `FROM`, and takes `auditParameters`.
 *
 * @param location the table of the statement that has the `id` and `companyId` of the location
 * @param targetId the id of what changed, and `changes` the JSON to record, as expressions of SQL
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
