import { namedStatement } from '../database/named-statement.ts';
import { type AuditAction, sqlAction } from './actions.ts';

// The SQL that writes audit records.

/**
 * Writes audit records with hand-written SQL, for two reasons:
 *
 * - Prisma blocks the process for a tenth of a second when it inserts hundreds of records.
 * - Prisma drops the members `__proto__` and `$type` of a JSON value.
 */
export const insertRecords = namedStatement(
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
 * Returns SQL that writes an audit record as part of a hand-written SQL statement. The caller of `insertAuditRecord`
 * appends a `FROM` clause to the returned SQL, and passes the parameters that `auditParameters` returns. For changes
 * that the gateway makes with Prisma, use `recordChange`.
 *
 * @param location the alias of a table with the `id` and `companyId` of the location
 * @param targetId an SQL expression for the id of the changed object. `changes` is an SQL expression for the JSON of
 *   the changed values
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
