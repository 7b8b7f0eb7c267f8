import type { Prisma, PrismaClient } from '../prisma/generated/client/client.ts';
import type { Transaction } from './audit.ts';
import type { Sql, Statement } from './db.ts';

// The outbox of the webhooks: deliveries that wait. A trigger fills it (migration `webhooks`).

/** How long a delivery is tried, in milliseconds: 3 days, as the trigger has it. */
export const triedFor = 3 * 86_400_000;

/** Everything that an attempt needs to know. */
const withContext = { webhook: true, event: true } as const satisfies Prisma.WebhookDeliveryInclude;

/** A delivery with its webhook and what happened. */
export type Delivery = Prisma.WebhookDeliveryGetPayload<{ include: typeof withContext }>;

/** A delivery that a worker took is taken by another one after this, in seconds: more than an attempt takes. */
const leaseSeconds = 60;
/** Of one webhook at a time, so that a slow one holds no other up. */
const mostOfOneWebhook = 5;

/** Takes deliveries that are due: a few of each webhook, none that another worker takes at this moment. */
const leaseDue: Statement = {
  name: 'webhook-take-due',
  text: `
    WITH due AS (
      SELECT next.id FROM "Webhook" w
      CROSS JOIN LATERAL (
        SELECT d.id FROM "WebhookDelivery" d
        WHERE d."webhookId" = w.id AND d.status = 'PENDING' AND d."nextAttemptAt" <= now()
        ORDER BY d."nextAttemptAt" LIMIT $2 FOR UPDATE SKIP LOCKED
      ) next
      WHERE w."disabledAt" IS NULL AND w.id <> ALL ($1::text[])
      LIMIT $3
    )
    UPDATE "WebhookDelivery" d SET "nextAttemptAt" = now() + make_interval(secs => $4)
    FROM due WHERE d.id = due.id
    RETURNING d.id`,
};

/**
 * Takes deliveries that are due, for as long as an attempt may last: if their worker dies, another one takes them.
 *
 * @param options.exceptOf webhooks that have enough under way
 */
export async function takeDue(
  { prisma, sql }: { prisma: PrismaClient; sql: Sql },
  { exceptOf, limit }: { exceptOf: readonly string[]; limit: number },
): Promise<Delivery[]> {
  const taken = await sql.query<{ id: string }>(leaseDue, [exceptOf, mostOfOneWebhook, limit, leaseSeconds]);
  if (taken.length === 0) return [];
  const ids = taken.map(({ id }) => id);
  return prisma.webhookDelivery.findMany({ where: { id: { in: ids } }, include: withContext });
}

/** Cancels what a webhook has not got yet. */
export async function cancelPending(transaction: Transaction, webhookId: string): Promise<void> {
  await transaction.webhookDelivery.updateMany({
    where: { webhookId, status: 'PENDING' },
    data: { status: 'CANCELLED' },
  });
}

/**
 * Stops a webhook: what it has not got yet, it will not get.
 *
 * @returns whether it was enabled until now
 */
export async function disableWebhook(transaction: Transaction, id: string): Promise<boolean> {
  const now = new Date();
  const { count } = await transaction.webhook.updateMany({
    where: { id, disabledAt: null },
    data: { disabledAt: now, updatedAt: now },
  });
  if (count > 0) await cancelPending(transaction, id);
  return count > 0;
}
