import { namedStatement } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';

/**
 * Removes some deliveries of a webhook and returns the number of removed deliveries. Deliveries that another process is
 * removing at the same time are skipped.
 */
const removeBatch = namedStatement(
  'webhook-remove-history',
  `
    WITH removed AS (
      DELETE FROM "WebhookDelivery" WHERE id IN (
        SELECT id FROM "WebhookDelivery" WHERE "webhookId" = $webhookId AND status <> 'PENDING' LIMIT $count FOR UPDATE SKIP LOCKED)
      RETURNING 1
    )
    SELECT count(*)::int AS count FROM removed`,
);

/**
 * The maximum number of deliveries that one statement removes. The number is small, so that client requests do not have
 * to wait.
 */
const historyBatchSize = 1000;

/** Removes all deliveries of a webhook that are not pending, in small batches. */
export async function removeHistory(sql: Sql, webhookId: string): Promise<void> {
  for (let removed = historyBatchSize; removed === historyBatchSize;) {
    const [batch] = await sql.query<{ count: number }>(
      removeBatch,
      removeBatch.values({ webhookId, count: historyBatchSize }),
    );
    removed = batch?.count ?? 0;
  }
}
