import type { Sql } from '../database/types.ts';
import { removeHistoryBatch } from './statements.ts';

/**
 * The maximum number of deliveries that one statement removes. The number is small, so that client requests do not wait
 * long for the removal of deliveries.
 */
const historyBatchSize = 1000;

/** Removes all deliveries of a webhook that are not pending, in small batches. */
export async function removeHistory(sql: Sql, webhookId: string): Promise<void> {
  for (let removed = historyBatchSize; removed === historyBatchSize;) {
    const [batch] = await sql.query<{ count: number }>(
      removeHistoryBatch,
      removeHistoryBatch.values({ webhookId, count: historyBatchSize }),
    );
    removed = batch?.count ?? 0;
  }
}
