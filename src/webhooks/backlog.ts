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
   * The longest time that a webhook delivery has waited for a webhook worker since the delivery became due, in seconds.
   * `overdueSeconds` ignores the messages of pull webhooks, because these messages wait for a client and not for a
   * worker.
   */
  overdueSeconds: number;
}

/** The gateway counts at most this number of pending deliveries, so that counting does not burden the database. */
const maxCountedDeliveries = 100_000;

/**
 * Reads the number and the ages of the pending deliveries. The database uses its own clock to compute how long the
 * deliveries have been pending.
 *
 * @param most the maximum number of deliveries to count. If more than `most` deliveries are pending, the result
 *   describes only this number of pending deliveries, which the database chooses arbitrarily
 */
export async function readBacklog(
  { sql }: { sql: Sql },
  most = maxCountedDeliveries,
): Promise<WebhookBacklog> {
  const [backlog] = await sql.query<WebhookBacklog>(backlogStatement, backlogStatement.values({ most }));
  if (!backlog) throw new Error('The database returned no count of deliveries');
  return backlog;
}
