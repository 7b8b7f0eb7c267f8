import { namedStatement } from '../database/named-statement.ts';

// The SQL statements that cancel, remove and resend the deliveries of one webhook, one batch at a time. A webhook can
// have millions of deliveries.

/**
 * The maximum number of deliveries that one statement cancels, removes or resends. If one SQL statement handled more
 * deliveries, it could exceed the time limit of SQL statements and delay client requests.
 */
export const maxBatchDeliveries = 1000;

/**
 * SQL that limits a query to one batch of webhook deliveries. The batch size is in a subquery, so that the query
 * planner of the database does not know the batch size. The query planner then chooses a plan that reads the deliveries
 * in the order of an index and stops after one batch. If the planner knew the batch size, the embedded database would
 * sort all deliveries of the webhook for each batch. The embedded database would choose this slow plan, because it has
 * no statistics about its tables.
 */
const limitToBatch = `LIMIT (SELECT ${maxBatchDeliveries})`;

/**
 * The SQL condition for deliveries `d` whose ids are in the common table expression `batch`. The SQL condition compares
 * the ids with an array, because a join of the deliveries with `batch` could be slow. To execute such a join,
 * PostgreSQL could read all deliveries of all webhooks, because the query planner does not know the size of the batch.
 */
const isInBatch = 'd.id = ANY (ARRAY(SELECT id FROM batch))';

/**
 * Cancels a batch of pending deliveries of a disabled webhook, and returns the number of cancelled deliveries. The SQL
 * statement first locks the row of the webhook. If the webhook is enabled, the statement cancels no deliveries.
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
 * statement removes the pending deliveries of a webhook only after all other deliveries of this webhook. If the gateway
 * process ends after some of the batches, the webhook still exists, so the gateway can still send the pending messages
 * of this webhook.
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
 * The SQL condition that is true for a delivery `d` of a pull webhook if no client has acknowledged the message. A
 * client that has pulled an unacknowledged message can still acknowledge the message, even after the end of the lease.
 * When the SQL statement resends an unacknowledged pull message, it therefore keeps the due time and `claimedAt` of the
 * delivery.
 */
const isUnacknowledged = `(w.delivery = 'PULL' AND d.status <> 'DELIVERED')`;

/**
 * The beginning of an SQL statement that schedules webhook deliveries (`d`) again. These deliveries become due
 * immediately. As an exception, deliveries that meet the condition `isUnacknowledged` keep their due time. The gateway
 * tries for `$retryDays` days to deliver the messages.
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
  /** The number of deliveries that the statement scheduled again. */
  count: number;
  /** The number of all deliveries in the batch, including the deliveries that the statement did not schedule again. */
  read: number;
  /** The id of the last delivery in the batch; null for an empty batch. */
  last: string | null;
}

/**
 * Schedules undelivered messages of a webhook again. The statement selects each undelivered message for which the
 * gateway made a delivery attempt between `$since` and `$until`. The statement also selects failed and cancelled
 * deliveries that were created between `$since` and `$until`. The statement does not select messages about the events
 * in the list `$unreadable`. The statement reads one batch of deliveries of the webhook: the first deliveries whose ids
 * are greater than `$after`. To look for the delivery attempts of a delivery, the statement uses a subquery with `LIMIT
 * 1`. With `EXISTS` instead of this subquery, PostgreSQL could read the delivery attempts of all webhooks.
 */
export const resendBatch = namedStatement(
  'webhook-resend-batch',
  `
    WITH batch AS MATERIALIZED (
      SELECT d.id FROM "WebhookDelivery" d WHERE d."webhookId" = $webhookId AND d.id > $after
      ORDER BY d.id ${limitToBatch}
    ), resent AS (
      ${makeDue} FROM "Webhook" w
      WHERE ${isInBatch} AND w.id = d."webhookId" AND d.type <> ALL ($unreadable::text[]) AND (
        (d.status IN ('FAILED', 'CANCELLED') AND d."createdAt" BETWEEN $since::timestamptz AND $until::timestamptz)
        OR (d.status <> 'DELIVERED' AND (
          SELECT true FROM "WebhookAttempt" a
          WHERE a."deliveryId" = d.id AND a."createdAt" BETWEEN $since::timestamptz AND $until::timestamptz
          LIMIT 1)))
      RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM resent) AS count, count(*)::int AS read, max(id) AS last FROM batch`,
);
