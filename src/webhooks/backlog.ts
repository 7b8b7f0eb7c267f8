import { namedStatement } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';

/** The pending webhook deliveries of all processes. Ages are in seconds; they are 0 when no delivery is pending. */
export interface WebhookBacklog {
  /** The number of pending deliveries, including deliveries that wait for a retry. */
  pending: number;
  /** The age of the oldest pending delivery in seconds. */
  oldestSeconds: number;
  /**
   * How many seconds the most overdue delivery has waited for a worker. Messages for pull delivery do not count,
   * because they wait for a reader.
   */
  overdueSeconds: number;
}

/** The maximum number of deliveries that are counted. Counting more deliveries would burden the database. */
const maxCountedDeliveries = 100_000;

const backlogStatement = namedStatement(
  'webhook-backlog',
  `
    SELECT count(*)::int AS pending,
      coalesce(extract(epoch FROM now() - min("createdAt")), 0)::float8 AS "oldestSeconds",
      greatest(coalesce(extract(epoch FROM now() - min("nextAttemptAt") FILTER (WHERE delivery = 'PUSH')), 0), 0)::float8
        AS "overdueSeconds"
    FROM (
      SELECT w.delivery, d."createdAt", d."nextAttemptAt"
      FROM "Webhook" w JOIN "WebhookDelivery" d ON d."webhookId" = w.id AND d.status = 'PENDING'
      WHERE w."disabledAt" IS NULL
      LIMIT $most
    ) AS counted`,
);

/**
 * Reads the number and the ages of the pending deliveries. Ages are by the clock of the database.
 *
 * @param most the maximum number of deliveries to count; if there are more, the database chooses which deliveries it
 *   counts
 */
export async function readBacklog(
  { sql }: { sql: Sql },
  most = maxCountedDeliveries,
): Promise<WebhookBacklog> {
  const [backlog] = await sql.query<WebhookBacklog>(backlogStatement, backlogStatement.values({ most }));
  if (!backlog) throw new Error('The database returned no count of deliveries');
  return backlog;
}
