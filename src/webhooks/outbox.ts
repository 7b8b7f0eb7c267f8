import type { Transaction } from '../audit/record.ts';
import { databaseNow } from '../database/clock.ts';
import type { Sql, Statement } from '../database/types.ts';
import type { Message } from './payload.ts';

// The outbox of the webhooks: deliveries that wait. A trigger fills it in the transaction of the change (migration
// `webhooks`). Due times, leases and ends are times of the database, never of a process.

/** How many days a delivery is tried; the trigger that fills the outbox has the same number. */
export const retryDays = 3;
/** The same in milliseconds. */
export const retryForMs = retryDays * 86_400_000;

/** After this time another worker may claim a delivery again. Longer than an attempt takes. */
const leaseSeconds = 60;

/** Attempts that one process makes at the same time: each is a connection and some memory. */
const maxInFlight = 200;
/** The share of one company: receivers of it that do not answer leave the rest to others. */
export const maxInFlightPerCompany = 20;
/** The share of one webhook, so that a slow receiver leaves some of its company's share to the others. */
const maxInFlightPerWebhook = 5;
/** Webhooks whose receiver failed last have at most half of each share, so that the others never wait for them. */
const maxFailingInFlight = maxInFlight / 2;
export const maxFailingInFlightPerCompany = maxInFlightPerCompany / 2;

/** A delivery that this worker has claimed, with everything that an attempt needs. */
export interface ClaimedDelivery extends Message {
  id: string;
  webhookId: string;
  /** The company of the webhook; empty for an operator's. */
  owner: string;
  /** Whether the receiver failed last. */
  failing: boolean;
  url: string;
  /** Encrypted, as the former one is. */
  secret: string;
  /** The secret before the last rotation, while its grace period lasts. */
  formerSecret: string | null;
  claimedAt: Date;
  /** The span in which the change was made; null without tracing. */
  traceparent: string | null;
}

/**
 * Claims deliveries that are due. Each company gets its share, the first of each company before the second of any;
 * within a company the oldest first, and webhooks whose receiver failed last after all others.
 *
 * $1 to $4 describe the attempts in flight. A row is locked only when it is chosen, and checked again then.
 */
const claimDueStatement: Statement = {
  name: 'webhook-claim-due',
  text: `
    WITH busy AS (
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[]) AS b(id, "webhookId", owner, failing)
    ), enabled AS (
      SELECT w.id, coalesce(w."companyId", '') AS owner, w."failingSince" IS NOT NULL AS failing,
        (SELECT count(*) FROM busy b WHERE b."webhookId" = w.id) AS "inFlight"
      FROM "Webhook" w WHERE w."disabledAt" IS NULL
    ), due AS (
      SELECT next.id, next."nextAttemptAt", e.owner, e.failing
      FROM enabled e
      CROSS JOIN LATERAL (
        SELECT d.id, d."nextAttemptAt" FROM "WebhookDelivery" d
        WHERE d."webhookId" = e.id AND d.status = 'PENDING' AND d."nextAttemptAt" <= now() AND d.id <> ALL ($1::text[])
        ORDER BY d."nextAttemptAt" LIMIT greatest(${maxInFlightPerWebhook} - e."inFlight", 0)
      ) next
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
      ORDER BY failing, "ofCompany", "nextAttemptAt" LIMIT greatest(${maxInFlight} - cardinality($1::text[]), 0)
    ), locked AS (
      SELECT d.id FROM "WebhookDelivery" d
      WHERE d.id IN (SELECT id FROM chosen) AND d.status = 'PENDING' AND d."nextAttemptAt" <= now()
      FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE "WebhookDelivery" d SET "nextAttemptAt" = now() + make_interval(secs => ${leaseSeconds})
      FROM locked WHERE d.id = locked.id
      RETURNING d.*
    )
    SELECT c.id, c."webhookId", c.type, coalesce(w."companyId", '') AS owner, w."failingSince" IS NOT NULL AS failing,
      w.url, w.secret, CASE WHEN w."formerSecretEndsAt" > now() THEN w."formerSecret" END AS "formerSecret",
      now() AS "claimedAt", r."companyId", r."locationId", r."targetId", r.changes, r."createdAt", r.traceparent
    FROM claimed c JOIN "Webhook" w ON w.id = c."webhookId" JOIN "AuditRecord" r ON r.id = c."eventId"
    ORDER BY c."createdAt"`,
};

/**
 * Claims deliveries that are due, within the shares that the attempts in flight leave. They are this worker's for the
 * time of a lease: if it dies, another one claims them then.
 *
 * @param inFlight the deliveries that this worker is sending
 */
export function claimDue(sql: Sql, inFlight: readonly ClaimedDelivery[]): Promise<ClaimedDelivery[]> {
  return sql.query<ClaimedDelivery>(claimDueStatement, [
    inFlight.map(({ id }) => id),
    inFlight.map(({ webhookId }) => webhookId),
    inFlight.map(({ owner }) => owner),
    inFlight.map(({ failing }) => failing),
  ]);
}

const releaseStatement: Statement = {
  name: 'webhook-release',
  text: `UPDATE "WebhookDelivery" SET "nextAttemptAt" = now() WHERE id = $1 AND status = 'PENDING'`,
};

/** Gives a claimed delivery back without an attempt: any worker may claim it at once. */
export async function release(sql: Sql, { id }: ClaimedDelivery): Promise<void> {
  await sql.query(releaseStatement, [id]);
}

/** Cancels the deliveries of a webhook that still wait. The transaction has locked or changed the webhook before. */
export async function cancelPending(transaction: Transaction, webhookId: string): Promise<void> {
  await transaction.webhookDelivery.updateMany({
    where: { webhookId, status: 'PENDING' },
    data: { status: 'CANCELLED' },
  });
}

/**
 * Disables a webhook and cancels the deliveries that wait for it.
 *
 * @returns whether it was enabled until now
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
