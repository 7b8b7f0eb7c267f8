import type { WebhookDeliveryKind } from '../../prisma/generated/client/enums.ts';
import { databaseNow } from '../database/clock.ts';
import { namedStatement } from '../database/named-statement.ts';
import type { Sql, Transaction } from '../database/types.ts';
import type { Message } from './payload.ts';

// The outbox is the table of pending webhook deliveries. A database trigger adds deliveries in the transaction of each
// change (migration `webhooks`). Due times and leases always use the clock of the database, never the clock of a
// process.

/**
 * For how many days the gateway retries a delivery. The trigger that adds deliveries to the outbox uses the same
 * number.
 */
export const retryDays = 3;
/** For how many milliseconds the gateway retries a delivery. */
export const retryForMs = retryDays * 86_400_000;

/**
 * How long a worker may hold a delivery that it has claimed, in seconds. After this time, another worker may claim the
 * delivery. The time is longer than an attempt can take.
 */
const workerLeaseSeconds = 60;

/**
 * The maximum number of concurrent delivery attempts in one process. Each attempt needs a connection and some memory.
 */
const maxInFlight = 200;
/**
 * The maximum number of concurrent delivery attempts for one company, so that unresponsive receivers of one company do
 * not delay the other companies.
 */
export const maxInFlightPerCompany = 20;
/**
 * The maximum number of concurrent delivery attempts for one webhook, so that a slow receiver does not use up the limit
 * of its company.
 */
const maxInFlightPerWebhook = 5;
/**
 * The maximum number of concurrent delivery attempts for failing webhooks. It is half of `maxInFlight`, so that failing
 * webhooks never use all slots.
 */
const maxFailingInFlight = maxInFlight / 2;
export const maxFailingInFlightPerCompany = maxInFlightPerCompany / 2;

/** A delivery that a worker or a reader has claimed, with all data that an attempt needs. */
export interface ClaimedDelivery extends Message {
  id: string;
  webhookId: string;
  /** The id of the company to which the webhook belongs; empty for an operator's webhook. */
  owner: string;
  /** Whether the last attempt to deliver a message of the webhook failed. */
  failing: boolean;
  /** The URL to which the message is posted; null for pull delivery. */
  url: string | null;
  /** The encrypted signing secret of the webhook. `formerSecret` is encrypted, too. */
  secret: string;
  /** The signing secret from before the last rotation. It is used until its grace period ends; otherwise it is null. */
  formerSecret: string | null;
  claimedAt: Date;
  leaseEndsAt: Date;
  /** The trace context of the change that caused the message; null when the change was not traced. */
  traceparent: string | null;
}

/**
 * Returns the last part of an SQL statement that claims deliveries. This part gives the caller a lease on the rows of
 * the table `locked`. It returns the rows with all data that an attempt needs, oldest first.
 *
 * @param leaseSeconds the length of the lease, as an SQL expression
 * @param further additional result columns, by name, as SQL expressions over `locked`
 */
export function claimLocked(leaseSeconds: string | number, further: Record<string, string> = {}): string {
  const returned = Object.entries(further).map(([name, expression]) => `, ${expression} AS "${name}"`);
  const selected = Object.keys(further).map((name) => `, c."${name}"`);
  return `claimed AS (
      UPDATE "WebhookDelivery" d
      SET "claimedAt" = now(), "nextAttemptAt" = now() + make_interval(secs => ${leaseSeconds})
      FROM locked WHERE d.id = locked.id
      RETURNING d.*${returned.join('')}
    )
    SELECT c.id, c."webhookId", c.type, c."claimedAt", c."nextAttemptAt" AS "leaseEndsAt"${selected.join('')},
      coalesce(w."companyId", '') AS owner, w."failingSince" IS NOT NULL AS failing,
      w.url, w.secret, CASE WHEN w."formerSecretEndsAt" > now() THEN w."formerSecret" END AS "formerSecret",
      r.action, r."companyId", r."locationId", r."targetId", r.changes, r."createdAt", r.traceparent
    FROM claimed c JOIN "Webhook" w ON w.id = c."webhookId" JOIN "AuditRecord" r ON r.id = c."eventId"
    ORDER BY c."createdAt", c.id`;
}

/**
 * Returns SQL that selects the due deliveries of all push webhooks or all pull webhooks, the earliest due time first.
 * Each webhook contributes at most as many deliveries as its limit allows. `enabled` contains the webhooks, and `$id`
 * contains the deliveries in progress.
 */
const dueOf = (kind: WebhookDeliveryKind, dueAt: 'nextAttemptAt' | 'retryUntil') => `
      SELECT next.id, next."nextAttemptAt", e.owner, e.failing
      FROM enabled e
      CROSS JOIN LATERAL (
        SELECT d.id, d."nextAttemptAt" FROM "WebhookDelivery" d
        WHERE d."webhookId" = e.id AND d.status = 'PENDING' AND d."${dueAt}" <= now() AND d."nextAttemptAt" <= now()
          AND d.id <> ALL ($id::text[])
        ORDER BY d."${dueAt}" LIMIT greatest(${maxInFlightPerWebhook} - e."inFlight", 0)
      ) next
      WHERE e.delivery = '${kind}'`;

/**
 * Claims due deliveries. Due messages of push webhooks must be posted. Due messages of pull webhooks have failed,
 * because no reader acknowledged them in time. The order is fair: each company has a limit, and every company gets one
 * delivery before any company gets a second delivery. Within a company, the oldest delivery comes first, and deliveries
 * of failing webhooks come last. The parameters describe the attempts in progress. The statement locks only the chosen
 * rows, and then checks them again.
 */
const claimDueStatement = namedStatement(
  'webhook-claim-due',
  `
    WITH busy AS (
      SELECT * FROM unnest($id::text[], $webhookId::text[], $owner::text[], $failing::boolean[]) AS b(id, "webhookId", owner, failing)
    ), enabled AS (
      SELECT w.id, w.delivery, coalesce(w."companyId", '') AS owner, w."failingSince" IS NOT NULL AS failing,
        (SELECT count(*) FROM busy b WHERE b."webhookId" = w.id) AS "inFlight"
      FROM "Webhook" w WHERE w."disabledAt" IS NULL
    ), due AS (${dueOf('PUSH', 'nextAttemptAt')}
      UNION ALL ${dueOf('PULL', 'retryUntil')}
    ), ranked AS (
      SELECT due.*,
        row_number() OVER (PARTITION BY owner ORDER BY failing, "nextAttemptAt")
          + (SELECT count(*) FROM busy b WHERE b.owner = due.owner) AS "ofCompany",
        row_number() OVER (PARTITION BY owner, failing ORDER BY "nextAttemptAt")
          + (SELECT count(*) FROM busy b WHERE b.owner = due.owner AND b.failing) AS "ofCompanyFailing"
      FROM due
    ), within_company AS (
      SELECT ranked.*,
        row_number() OVER (PARTITION BY failing ORDER BY "ofCompany", "nextAttemptAt")
          + (SELECT count(*) FROM busy b WHERE b.failing) AS "ofFailing"
      FROM ranked
      WHERE "ofCompany" <= ${maxInFlightPerCompany}
        AND (NOT failing OR "ofCompanyFailing" <= ${maxFailingInFlightPerCompany})
    ), chosen AS (
      SELECT id FROM within_company
      WHERE NOT failing OR "ofFailing" <= ${maxFailingInFlight}
      ORDER BY failing, "ofCompany", "nextAttemptAt" LIMIT greatest(${maxInFlight} - cardinality($id::text[]), 0)
    ), locked AS (
      SELECT d.id FROM "WebhookDelivery" d
      WHERE d.id IN (SELECT id FROM chosen) AND d.status = 'PENDING' AND d."nextAttemptAt" <= now()
      FOR UPDATE SKIP LOCKED
    ), ${claimLocked(workerLeaseSeconds)}`,
);

/**
 * Claims as many due deliveries as the limits of the worker allow, and gives the worker a lease on them. If the worker
 * dies, another worker claims the deliveries after the lease has ended.
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

const releaseStatement = namedStatement(
  'webhook-release',
  `UPDATE "WebhookDelivery" SET "nextAttemptAt" = now() + make_interval(secs => $afterSeconds)
    WHERE id = $id AND status = 'PENDING'`,
);

/**
 * Gives up a claimed delivery without an attempt, so that any worker may claim it again.
 *
 * @param afterSeconds the time after which a worker may claim the delivery; 0 means immediately
 */
export async function release(sql: Sql, { id }: ClaimedDelivery, afterSeconds = 0): Promise<void> {
  await sql.query(releaseStatement, releaseStatement.values({ id, afterSeconds }));
}

/** Cancels the pending deliveries of a webhook. The webhook must be locked in the caller's transaction. */
export async function cancelPending(transaction: Transaction, webhookId: string): Promise<void> {
  await transaction.webhookDelivery.updateMany({
    where: { webhookId, status: 'PENDING' },
    data: { status: 'CANCELLED' },
  });
}

/**
 * Disables a webhook and cancels its pending deliveries.
 *
 * @returns false when the webhook was already disabled
 */
export async function disableWebhook(transaction: Transaction, id: string): Promise<boolean> {
  const now = await databaseNow(transaction);
  const { count } = await transaction.webhook.updateMany({
    where: { id, disabledAt: null },
    data: { disabledAt: now, updatedAt: now },
  });
  if (count > 0) await cancelPending(transaction, id);
  return count > 0;
}
