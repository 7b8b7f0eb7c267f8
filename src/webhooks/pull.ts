import type { PrismaClient, Webhook } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { namedStatement } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import { invalidField } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import { type AttemptOutcome, storeAcknowledgements } from './attempt-outcome.ts';
import { findWebhook, lockWebhook, requireEnabled } from './lock.ts';
import { claimLocked, type ClaimedDelivery } from './outbox.ts';
import type { WebhookSecretBox } from './secret-box.ts';
import { type SignedMessage, signedMessage } from './signed-message.ts';
import { isWaiting } from './waiting-messages.ts';

/** The maximum number of messages that a reader can pull or acknowledge with one request. */
export const maxPulledMessages = 100;
/** The shortest and the longest time for which a reader can lease messages, in seconds. */
export const minLeaseSeconds = 10;
export const maxLeaseSeconds = 3600;

/**
 * The maximum size of the stored changes in one response, in bytes. Only the last message may exceed this size.
 * Messages are parsed and signed without yielding to the event loop, so a response with many large imports would delay
 * other requests.
 */
const maxStoredBytes = 1024 * 1024;

/** The error text of the attempt that is stored when a lease ends and the reader has not acknowledged the message. */
const leaseEnded = 'No reader acknowledged the message before the lease ended';

/** A message that a reader has pulled, and on which it holds a lease. */
export interface PulledMessage
  extends SignedMessage, Pick<ClaimedDelivery, 'id' | 'createdAt' | 'leaseEndsAt'> {
  /** The name of the event, such as `whitelist.created`. */
  event: string;
}

/**
 * A claimed delivery. If its previous lease ended without an acknowledgement, the delivery also has the length of that
 * lease; otherwise the length is null.
 */
type Pulled = ClaimedDelivery & { unacknowledgedMs: number | null };

/**
 * Claims up to `$first` messages of a webhook for `$leaseSeconds`. The messages that have waited longest come first.
 * Messages that another reader is claiming at the same time are skipped. For each earlier lease that ended without an
 * acknowledgement, the statement stores an attempt.
 */
const pullStatement = namedStatement(
  'webhook-pull',
  `
    WITH free AS (
      SELECT d.id, d."eventId", d."nextAttemptAt", d."claimedAt" FROM "WebhookDelivery" d
      WHERE d."webhookId" = $webhookId AND ${isWaiting('d')}
      ORDER BY d."nextAttemptAt", d.id LIMIT $first::int
      FOR UPDATE SKIP LOCKED
    ), measured AS (
      SELECT free.*, (extract(epoch FROM "nextAttemptAt" - "claimedAt") * 1000)::int AS "unacknowledgedMs",
        sum(coalesce(pg_column_size(r.changes), 0)) OVER (ORDER BY free."nextAttemptAt", free.id
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS "bytesBefore"
      FROM free JOIN "AuditRecord" r ON r.id = free."eventId"
    ), locked AS (
      SELECT * FROM measured WHERE coalesce("bytesBefore", 0) <= ${maxStoredBytes}
    ), ended AS (
      INSERT INTO "WebhookAttempt" (id, "deliveryId", error, "durationMs", "createdAt")
      SELECT "new_id"(), id, '${leaseEnded}', "unacknowledgedMs", "nextAttemptAt"
      FROM locked WHERE "unacknowledgedMs" IS NOT NULL
    ), ${claimLocked('$leaseSeconds::int', { unacknowledgedMs: 'locked."unacknowledgedMs"' })}`,
);

/** Throws an error if the webhook has push delivery. */
function requirePull({ id, delivery }: Webhook): void {
  if (delivery !== 'PULL')
    throw invalidField('webhookId', 'Must be a webhook with pull delivery; this one posts its messages', id);
}

/** The functions with which readers pull and acknowledge messages, for one database. */
export type WebhookPulls = ReturnType<typeof createWebhookPulls>;

/**
 * Creates the functions with which readers pull and acknowledge messages.
 *
 * @param services.onAttempt called for each lease that ended, and for each acknowledgement
 */
export function createWebhookPulls(services: {
  prisma: PrismaClient;
  sql: Sql;
  secrets: WebhookSecretBox;
  onAttempt: (attempt: { outcome: AttemptOutcome; durationMs: number }) => void;
}) {
  const { prisma, sql, secrets, onAttempt } = services;

  /**
   * Counts the leases that ended without an acknowledgement, and stores the time since which the webhook has been
   * failing.
   */
  async function noteEndedLeases(webhookId: string, pulled: readonly Pulled[]): Promise<void> {
    const ended = pulled.flatMap(({ unacknowledgedMs }) => unacknowledgedMs ?? []);
    if (ended.length === 0) return;
    for (const durationMs of ended) onAttempt({ outcome: 'retry', durationMs });
    // The webhook has a statement of its own, because every change of a webhook must lock the webhook before its
    // deliveries.
    await prisma.$executeRaw`
      UPDATE "Webhook" SET "failingSince" = now() WHERE id = ${webhookId} AND "failingSince" IS NULL`;
  }

  return {
    /**
     * Leases waiting messages to a reader, oldest first. Until the lease ends, no other reader gets the same messages.
     * The response contains fewer than `first` messages when the messages are large.
     *
     * @param first the maximum number of messages
     * @param leaseSeconds the length of the lease
     * @throws {ServiceError} `NOT_FOUND`, `VALIDATION_ERROR` for a webhook with push delivery, `CONFLICT` when the
     *   webhook is disabled
     */
    async pull(
      key: AuthenticatedKey,
      webhookId: string,
      { first, leaseSeconds }: { first: number; leaseSeconds: number },
    ): Promise<PulledMessage[]> {
      const webhook = await findWebhook(prisma, key, webhookId, 'webhookId');
      requirePull(webhook);
      requireEnabled(webhook, 'webhookId');
      const pulled = await sql.query<Pulled>(
        pullStatement,
        pullStatement.values({ webhookId, first, leaseSeconds }),
      );
      await noteEndedLeases(webhookId, pulled);
      return pulled.map((delivery) => {
        const { id, type, createdAt, leaseEndsAt } = delivery;
        return { id, event: type, createdAt, leaseEndsAt, ...signedMessage(delivery, secrets) };
      });
    },

    /**
     * Marks messages that a reader has pulled as delivered, even after their lease has ended. Unknown messages and
     * messages that are already acknowledged are ignored.
     *
     * @returns the number of newly acknowledged messages
     * @throws {ServiceError} `NOT_FOUND`, `VALIDATION_ERROR` for a webhook with push delivery
     */
    async acknowledge(key: AuthenticatedKey, webhookId: string, ids: readonly string[]): Promise<number> {
      const attempts = await prisma.$transaction(async (transaction) => {
        requirePull(await lockWebhook(transaction, key, webhookId, 'webhookId'));
        return storeAcknowledgements(transaction, webhookId, ids.filter(isId));
      });
      for (const { durationMs } of attempts) onAttempt({ outcome: 'delivered', durationMs });
      return attempts.length;
    },

    /**
     * Finds a webhook with pull delivery.
     *
     * @throws {ServiceError} `NOT_FOUND`, `VALIDATION_ERROR` for a webhook with push delivery
     */
    async findPulled(key: AuthenticatedKey, webhookId: string): Promise<Webhook> {
      const webhook = await findWebhook(prisma, key, webhookId, 'webhookId');
      requirePull(webhook);
      return webhook;
    },
  };
}
