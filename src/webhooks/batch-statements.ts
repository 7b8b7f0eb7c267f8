import { namedStatement } from '../database/named-statement.ts';

// The SQL statements that cancel, remove and resend the deliveries of one webhook, one batch at a time. A webhook can
// have millions of deliveries.

/**
 * The maximum number of deliveries that one statement cancels, removes or resends. A statement with few deliveries ends
 * within its time limit, and does not make client requests wait long.
 */
export const maxBatchDeliveries = 1000;

/**
 * SQL that limits a query to one batch. The batch size is in a subquery, so the query planner does not know the batch
 * size. The planner then expects to read only a part of the rows, and reads the rows in the order of an index. The
 * embedded database has no statistics about its tables. Without statistics, a query planner that knows the batch size
 * sorts all deliveries of the webhook for each batch.
 */
const limitToBatch = `LIMIT (SELECT ${maxBatchDeliveries})`;

/**
 * SQL condition: the delivery `d` is in `batch`. The condition uses an array instead of a join. For a join, PostgreSQL
 * could read all deliveries of all webhooks, because the query planner does not know the size of the batch.
 */
const isInBatch = 'd.id = ANY (ARRAY(SELECT id FROM batch))';

/**
 * Cancels a batch of pending deliveries of a disabled webhook, and returns the number of cancelled deliveries. The
 * statement locks the webhook first, and cancels nothing if the webhook is enabled.
 */
export const cancelBatch = namedStatement(
  'webhook-cancel-batch',
  `
    WITH disabled AS MATERIALIZED (
      SELECT id FROM "Webhook" WHERE id = $webhookId AND "disabledAt" IS NOT NULL FOR NO KEY UPDATE
    ), batch AS MATERIALIZED (
      SELECT d.id FROM "WebhookDelivery" d
      WHERE d."webhookId" = (SELECT id FROM disabled) AND d.status = 'PENDING'
      ORDER BY d."nextAttemptAt" ${limitToBatch} FOR NO KEY UPDATE
    ), cancelled AS (
      UPDATE "WebhookDelivery" d SET status = 'CANCELLED' WHERE ${isInBatch} RETURNING 1
    )
    SELECT count(*)::int AS count FROM cancelled`,
);

/**
 * Removes a batch of deliveries of a webhook with their attempts, and returns the number of removed deliveries. The
 * statement removes pending deliveries last. If the process ends before the last batches, the webhook therefore still
 * has its waiting messages.
 */
export const removeBatch = namedStatement(
  'webhook-remove-batch',
  `
    WITH batch AS MATERIALIZED (
      SELECT d.id FROM "WebhookDelivery" d WHERE d."webhookId" = $webhookId
      ORDER BY d.status DESC ${limitToBatch} FOR UPDATE
    ), removed AS (
      DELETE FROM "WebhookDelivery" d WHERE ${isInBatch} RETURNING 1
    )
    SELECT count(*)::int AS count FROM removed`,
);

/**
 * SQL condition: the delivery `d` belongs to a pull webhook, and no reader has acknowledged its message. A reader that
 * has pulled the message can still acknowledge it, even after the end of the lease. The due time and `claimedAt` of
 * the delivery therefore stay unchanged: the lease continues, or the message is already due.
 */
const isUnacknowledged = `(w.delivery = 'PULL' AND d.status <> 'DELIVERED')`;

/**
 * The beginning of an SQL statement that sets the due time of the deliveries `d` to now. From now on, the gateway tries
 * to deliver the messages for `$retryDays` days.
 */
const makeDue = `
  UPDATE "WebhookDelivery" d
  SET status = 'PENDING', "retryUntil" = now() + make_interval(days => $retryDays::int),
    "nextAttemptAt" = CASE WHEN ${isUnacknowledged} THEN d."nextAttemptAt" ELSE now() END,
    "claimedAt" = CASE WHEN ${isUnacknowledged} THEN d."claimedAt" END`;

/** Schedules one delivery again, even if its message was already delivered. */
export const resendStatement = namedStatement(
  'webhook-resend',
  `${makeDue} FROM "Webhook" w WHERE d.id = $deliveryId AND w.id = d."webhookId"`,
);

/** The result of `resendBatch`. */
export interface ResentBatch {
  /** The number of deliveries in the batch that the statement scheduled again. */
  count: number;
  /** The number of deliveries in the batch. */
  read: number;
  /** The id of the last delivery in the batch; null for an empty batch. */
  last: string | null;
}

/**
 * Schedules undelivered messages of a webhook again, in two cases. In the first case, the gateway tried to deliver the
 * message between `$since` and `$until`. In the second case, the delivery was created between `$since` and `$until`,
 * and has failed or was cancelled. The statement reads one batch of deliveries of the webhook: the first deliveries
 * whose ids are greater than `$after`. The statement looks for attempts in a subquery with `LIMIT 1`. With `EXISTS`
 * instead of the subquery, PostgreSQL could read the attempts of all webhooks.
 */
export const resendBatch = namedStatement(
  'webhook-resend-batch',
  `
    WITH batch AS MATERIALIZED (
      SELECT d.id FROM "WebhookDelivery" d WHERE d."webhookId" = $webhookId AND d.id > $after
      ORDER BY d.id ${limitToBatch}
    ), resent AS (
      ${makeDue} FROM "Webhook" w
      WHERE ${isInBatch} AND w.id = d."webhookId" AND (
        (d.status IN ('FAILED', 'CANCELLED') AND d."createdAt" BETWEEN $since::timestamptz AND $until::timestamptz)
        OR (d.status <> 'DELIVERED' AND (
          SELECT true FROM "WebhookAttempt" a
          WHERE a."deliveryId" = d.id AND a."createdAt" BETWEEN $since::timestamptz AND $until::timestamptz
          LIMIT 1)))
      RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM resent) AS count, count(*)::int AS read, max(id) AS last FROM batch`,
);
