import type { JsonValue } from '@prisma/client/runtime/client';
import type { WebhookEvent } from '../audit/actions.ts';
import { namedStatement } from '../database/named-statement.ts';
import { createQueryBatch } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';

/**
 * The webhook events whose audit records contain long lists in `changes`. For example, the audit record of a whitelist
 * import can contain the ids of thousands of whitelist entries.
 */
const listingEvents: readonly string[] = [
  'whitelist.imported',
  'parking.inside_counted',
] satisfies WebhookEvent[];

/**
 * Whether the audit records of this type of webhook event contain long lists. Webhook messages contain only the lengths
 * of long lists.
 */
export const isListing = (type: string): boolean => listingEvents.includes(type);

/**
 * The SQL expression that returns the changes in the audit record `r`, with the length of each list in place of the
 * list.
 */
const withCounts = `(
        SELECT jsonb_object_agg(name, CASE jsonb_typeof(value) WHEN 'array' THEN to_jsonb(jsonb_array_length(value)) ELSE value END)
        FROM jsonb_each(r.changes) AS field(name, value))`;

/**
 * Returns the SQL expression for the field `data.changes` of the webhook message about the audit record `r`. PostgreSQL
 * counts the items of long lists, so that the gateway process does not parse the lists. If the gateway process parsed
 * long lists, other requests would have to wait.
 *
 * @param type the SQL expression for the type of the webhook message
 */
export const changesOfMessage = (type: string): string =>
  `CASE WHEN ${type} IN (${listingEvents.map((event) => `'${event}'`).join()}) THEN ${withCounts} ELSE r.changes END`;

const readCounts = namedStatement(
  'webhook-changes-with-counts',
  `SELECT r.id, ${withCounts} AS changes FROM "AuditRecord" r WHERE r.id = ANY ($ids::text[])`,
);

/**
 * The maximum number of audit records whose list items one SQL statement counts. If one SQL statement counted the list
 * items of more than `maxJoinedRecords` audit records, it would delay other requests for too long.
 */
const maxJoinedRecords = 10;

/**
 * Creates the function that takes the id of an audit record and reads the changes in this audit record. The created
 * function replaces each list in the changes of the audit record with the length of the list.
 */
export const createChangesWithCounts = (sql: Sql): ((eventId: string) => Promise<JsonValue>) =>
  createQueryBatch(async (ids: readonly string[]) => {
    const rows = await sql.query<{ id: string; changes: JsonValue }>(readCounts, readCounts.values({ ids }));
    const found = new Map(rows.map(({ id, changes }) => [id, changes]));
    return ids.map((id) => found.get(id) ?? null);
  }, maxJoinedRecords);
