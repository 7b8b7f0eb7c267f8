import type { Sql } from '../database/types.ts';
import { backlogStatement } from './statements.ts';

/**
 * The pending deliveries of all enabled webhooks, for all gateway processes together. If no delivery is pending,
 * `oldestSeconds` and `overdueSeconds` are 0.
 */
export interface WebhookBacklog {
  /** The number of pending deliveries, including deliveries that wait for a retry. */
  pending: number;
  /** The age of the oldest pending delivery in seconds. */
  oldestSeconds: number;
  /**
   * The longest time, in seconds, that a due webhook delivery has waited for a webhook worker. `overdueSeconds` ignores
   * the messages of pull webhooks, because these messages wait for a client and not for a worker.
   */
  overdueSeconds: number;
}

/**
 * Counting all pending deliveries could burden the database, so the gateway counts at most `maxCountedDeliveries` of
 * these deliveries.
 */
const maxCountedDeliveries = 100_000;

/**
 * Reads the number and the ages of the pending deliveries. The database uses its own clock to compute how long the
 * deliveries have been pending.
 *
 * @param most the maximum number of deliveries to count. If more than `most` deliveries are pending, the database
 *   arbitrarily chooses `most` of these deliveries, and the result describes only the chosen deliveries
 */
export async function readBacklog(
  { sql }: { sql: Sql },
  most = maxCountedDeliveries,
): Promise<WebhookBacklog> {
  const [backlog] = await sql.query<WebhookBacklog>(backlogStatement, backlogStatement.values({ most }));
  if (!backlog) throw new Error('The database returned no count of deliveries');
  return backlog;
}
