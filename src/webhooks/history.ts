import type { Sql, Statement } from '../database/types.ts';

/** Removes a part of the history of a webhook and returns how much. Deliveries that another process is removing stay. */
const removeBatch: Statement = {
  name: 'webhook-remove-history',
  text: `
    WITH removed AS (
      DELETE FROM "WebhookDelivery" WHERE id IN (
        SELECT id FROM "WebhookDelivery" WHERE "webhookId" = $1 AND status <> 'PENDING' LIMIT $2 FOR UPDATE SKIP LOCKED)
      RETURNING 1
    )
    SELECT count(*)::int AS count FROM removed`,
};

/** Deliveries that are removed in one statement: few enough that nobody waits for it. */
const historyBatchSize = 1000;

/** Removes the deliveries of a webhook that do not wait, in small batches. */
export async function removeHistory(sql: Sql, webhookId: string): Promise<void> {
  for (let removed = historyBatchSize; removed === historyBatchSize;) {
    const [batch] = await sql.query<{ count: number }>(removeBatch, [webhookId, historyBatchSize]);
    removed = batch?.count ?? 0;
  }
}
