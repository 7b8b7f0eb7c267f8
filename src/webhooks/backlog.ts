import type { Sql, Statement } from '../database/types.ts';

/** The deliveries of all processes that are not done. Ages in seconds, 0 when there is none. */
export interface WebhookBacklog {
  /** How many there are, those that wait for their next attempt included. */
  pending: number;
  /** Since when the oldest of them exists. */
  oldestSeconds: number;
  /** How long the one that is due for the longest time waits for a worker. */
  overdueSeconds: number;
}

/** How many deliveries are counted: reading more would take the database longer than the number is worth. */
const maxCountedDeliveries = 100_000;

const backlogStatement: Statement = {
  name: 'webhook-backlog',
  text: `
    SELECT count(*)::int AS pending,
      coalesce(extract(epoch FROM now() - min("createdAt")), 0)::float8 AS "oldestSeconds",
      greatest(coalesce(extract(epoch FROM now() - min("nextAttemptAt")), 0), 0)::float8 AS "overdueSeconds"
    FROM (
      SELECT d."createdAt", d."nextAttemptAt"
      FROM "Webhook" w JOIN "WebhookDelivery" d ON d."webhookId" = w.id AND d.status = 'PENDING'
      WHERE w."disabledAt" IS NULL
      LIMIT $1
    ) AS counted`,
};

/**
 * Reads the backlog by the clock of the database.
 *
 * @param most how many deliveries are counted at most; of more, those that the database finds first
 */
export async function readBacklog(
  { sql }: { sql: Sql },
  most = maxCountedDeliveries,
): Promise<WebhookBacklog> {
  const [backlog] = await sql.query<WebhookBacklog>(backlogStatement, [most]);
  if (!backlog) throw new Error('The database did not count the deliveries');
  return backlog;
}
