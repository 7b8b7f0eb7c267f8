import { databaseNow } from '../database/clock.ts';
import type { Sql, Transaction } from '../database/types.ts';
import { cancelBatch, maxBatchDeliveries } from './batch-statements.ts';
import type { Message } from './payload.ts';
import { claimDueStatement, releaseStatement } from './statements.ts';

// The outbox is the table of pending webhook deliveries. A database trigger (migration `webhooks`) adds the webhook
// deliveries of each change to the outbox, in the transaction of the change. The due times of webhook deliveries, and
// the ends of their reservations (leases), always come from the clock of the database, never from the clock of a
// process.

/**
 * The number of days for which the gateway retries a failed delivery. The database trigger that adds deliveries to the
 * outbox uses the same number of days as `retryDays`. If you change `retryDays`, you must also change the database
 * trigger that adds deliveries to the outbox.
 */
export const retryDays = 3;
/** The time for which the gateway retries a failed delivery, in milliseconds. */
export const retryForMs = retryDays * 86_400_000;

/**
 * A webhook delivery that a worker or a pulling client has claimed, with all data for one attempt to deliver its
 * message.
 */
export interface ClaimedDelivery extends Message {
  id: string;
  webhookId: string;
  /** The id of the company to which the webhook belongs; empty for an operator's webhook. */
  owner: string;
  /** Whether the webhook's last delivery attempt failed. */
  failing: boolean;
  /** The URL to which the gateway posts the webhook message; null if clients pull the messages of this webhook. */
  url: string | null;
  /** The encrypted signing secret of the webhook. */
  secret: string;
  /** The encrypted previous signing secret; null if its grace period is over, or if the secret was never changed. */
  formerSecret: string | null;
  claimedAt: Date;
  /**
   * The time until which the worker has reserved the delivery (the end of the worker's lease). If another claim
   * follows, `nextAttemptAt` of the delivery changes, so the worker holds its lease as long as `nextAttemptAt` equals
   * `leaseEndsAt`.
   */
  leaseEndsAt: Date;
  /** The trace context of the change that caused the message; null when the change was not traced. */
  traceparent: string | null;
}

/**
 * Claims due webhook deliveries for a worker, but not more deliveries than the limits on concurrent attempts allow. The
 * worker reserves each delivery that it claims for a limited time (a lease). If the worker dies, another worker claims
 * the deliveries after their reservation has ended.
 *
 * @param inFlight the deliveries that this worker is sending
 */
export function claimDue(sql: Sql, inFlight: readonly ClaimedDelivery[]): Promise<ClaimedDelivery[]> {
  const values = claimDueStatement.values({
    id: inFlight.map(({ id }) => id),
    webhookId: inFlight.map(({ webhookId }) => webhookId),
    owner: inFlight.map(({ owner }) => owner),
    failing: inFlight.map(({ failing }) => failing),
  });
  return sql.query<ClaimedDelivery>(claimDueStatement, values);
}

/**
 * Releases a delivery that a worker has claimed, and records no delivery attempt. Any worker may then claim the
 * delivery again. If the lease of the first worker has ended, another worker, or a client that pulls messages, may
 * already have claimed the delivery. In this case, `release` does not change the newer claim.
 *
 * @param afterSeconds the number of seconds after which a worker may claim the delivery again; 0 means immediately
 */
export async function release(
  sql: Sql,
  { id, leaseEndsAt }: Pick<ClaimedDelivery, 'id' | 'leaseEndsAt'>,
  afterSeconds = 0,
): Promise<void> {
  await sql.query(releaseStatement, releaseStatement.values({ id, leaseEndsAt, afterSeconds }));
}

/**
 * Disables a webhook. After the caller has committed its transaction, the gateway sends no more messages of the
 * disabled webhook. After the commit, the caller must cancel the pending deliveries of the webhook with
 * `cancelPending`.
 *
 * @returns false when the webhook was already disabled
 */
export async function disableWebhook(transaction: Transaction, id: string): Promise<boolean> {
  const now = await databaseNow(transaction);
  const { count } = await transaction.webhook.updateMany({
    where: { id, disabledAt: null },
    data: { disabledAt: now, updatedAt: now },
  });
  return count > 0;
}

/**
 * Cancels the pending deliveries of a disabled webhook in batches. The function stops when another request has enabled
 * or deleted the webhook. If the gateway process ends before it has cancelled all deliveries, the retention job cancels
 * the remaining deliveries. When a client enables or disables a webhook, the gateway also cancels the deliveries of the
 * webhook that are still pending. The retention job also cancels deliveries that another transaction added while the
 * webhook was being disabled.
 *
 * @param signal a signal that stops the function after the current batch
 */
export async function cancelPending(sql: Sql, webhookId: string, signal?: AbortSignal): Promise<void> {
  for (let cancelled = maxBatchDeliveries; cancelled === maxBatchDeliveries && !signal?.aborted;) {
    const [batch] = await sql.query<{ count: number }>(cancelBatch, cancelBatch.values({ webhookId }));
    cancelled = batch?.count ?? 0;
  }
}
