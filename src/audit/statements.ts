import { columnList } from '../database/columns.ts';
import { namedStatement } from '../database/named-statement.ts';
import type { AuditAction } from './actions.ts';

// The SQL that writes audit records.

/**
 * The SQL statement that inserts audit records. The gateway does not insert audit records with Prisma, for two reasons:
 *
 * - Prisma blocks the process for a tenth of a second when it inserts hundreds of audit records.
 * - Prisma drops the properties `__proto__` and `$type` of a JSON value.
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
 * The names of the SQL parameters that `auditParameters` returns for an audit record. The parameter names are in the
 * order of the columns of the table `AuditRecord`.
 */
const authorParameters = ['auditId', 'auditApiKeyId', 'auditRequestId', 'auditTraceparent'] as const;

/**
 * A comma-separated SQL list of the columns that describe the author of a change. If one SQL statement writes changes
 * of several authors, it needs a row with `authorColumns` for each change.
 */
export const authorColumns = columnList(authorParameters);

/**
 * The SQL parameters with the authors of several changes. Each SQL parameter is an array with the values of one column,
 * for example the API key ids of all authors.
 */
export const authorArrayParameters = columnList(authorParameters, (_, name) => `$${name}::text[]`);

/**
 * Returns an SQL fragment that writes an audit record. The caller of `insertAuditRecord` uses the SQL fragment in a
 * hand-written SQL statement, and appends a `FROM` clause to the fragment. The caller also passes the parameters that
 * `auditParameters` returns to the SQL statement. When the gateway makes a change with Prisma, use `recordChange`
 * instead of `insertAuditRecord`.
 *
 * @param location the alias of a table whose columns `id` and `companyId` contain the ids of the location and of its
 *   company
 * @param targetId an SQL expression for the id of the changed object
 * @param changes an SQL expression for the JSON of the changed values
 * @param author the alias of a table with the columns `authorColumns`. `author` is missing if all changes that the SQL
 *   statement writes have the same author
 */
export function insertAuditRecord(
  action: AuditAction,
  record: { location: string; targetId: string; changes: string; author?: string },
): string {
  const { location, targetId, changes, author } = record;
  const authorValues = columnList(authorParameters, (quoted, name) =>
    author ? `${author}.${quoted}` : `$${name}`,
  );
  return `
    INSERT INTO "AuditRecord" (id, "apiKeyId", "requestId", traceparent, action, "companyId", "locationId", "targetId", changes)
    SELECT ${authorValues}, '${action}', ${location}."companyId", ${location}.id,
      ${targetId}, ${changes}`;
}
