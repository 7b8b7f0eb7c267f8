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

/** The maximum number of messages in one response and in one acknowledgement. */
export const maxPulledMessages = 100;
/** The shortest and the longest lease, in seconds. */
export const minLeaseSeconds = 10;
export const maxLeaseSeconds = 3600;

/**
 * The maximum number of stored bytes of changes in one response, except for the last message. Messages are parsed and
 * signed without yielding to the event loop. A response full of imports with 10,000 identifiers each would therefore
 * delay other requests.
 */
const maxStoredBytes = 1024 * 1024;

/** The error of the attempt that is stored when a lease ends without an acknowledgement. */
const leaseEnded = 'No reader acknowledged the message before the lease ended';

/** A message that is leased to a reader. */
export interface PulledMessage
  extends SignedMessage, Pick<ClaimedDelivery, 'id' | 'createdAt' | 'leaseEndsAt'> {
  /** The name of the event, such as `whitelist.created`. */
  event: string;
}

/**
 * A claimed delivery, with the length of its previous lease if that lease ended without an acknowledgement. The length
 * is null for the first lease.
 */
type Pulled = ClaimedDelivery & { unacknowledgedMs: number | null };

/**
 * Claims up to `$first` messages of a webhook for `$leaseSeconds`. Messages that have waited longest come first.
 * Messages that another reader is claiming are skipped. A lease that ended without an acknowledgement is stored as an
 * attempt.
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

/** Throws an error for a webhook with push delivery. */
function requirePull({ id, delivery }: Webhook): void {
  if (delivery !== 'PULL')
    throw invalidField('webhookId', 'Must be a webhook with pull delivery; this one posts its messages', id);
}

/** The functions that serve the readers of pull webhooks from one database. */
export type WebhookPulls = ReturnType<typeof createWebhookPulls>;

/**
 * Creates the functions for readers, which pull and acknowledge messages.
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

  /** Counts the leases that ended without an acknowledgement, and stores since when the webhook is failing. */
  async function noteEndedLeases(webhookId: string, pulled: readonly Pulled[]): Promise<void> {
    const ended = pulled.flatMap(({ unacknowledgedMs }) => unacknowledgedMs ?? []);
    if (ended.length === 0) return;
    for (const durationMs of ended) onAttempt({ outcome: 'retry', durationMs });
    // This statement is separate, because a change of a webhook must lock the webhook before its deliveries.
    await prisma.$executeRaw`
      UPDATE "Webhook" SET "failingSince" = now() WHERE id = ${webhookId} AND "failingSince" IS NULL`;
  }

  return {
    /**
     * Leases waiting messages to the reader, oldest first. No other reader gets these messages until the lease ends.
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
     * Completes messages that a reader has pulled, even after the end of their lease. Unknown and already acknowledged
     * messages are ignored.
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
