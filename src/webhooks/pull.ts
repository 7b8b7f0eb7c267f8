import type { PrismaClient, Webhook } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { databaseNow } from '../database/clock.ts';
import type { Sql } from '../database/types.ts';
import { invalidField } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import { type AttemptOutcome, storeAcknowledgements } from './attempt-outcome.ts';
import { findWebhook, lockWebhook, requireEnabled } from './lock.ts';
import type { ClaimedDelivery } from './outbox.ts';
import type { WebhookSecretBox } from './secret-box.ts';
import { type SignedMessage, signedMessage } from './signed-message.ts';
import { pullStatement } from './statements.ts';

/** The maximum number of messages that a reader can pull or acknowledge with one request. */
export const maxPulledMessages = 100;
/** The shortest and the longest time for which a reader can lease messages, in seconds. */
export const minLeaseSeconds = 10;
export const maxLeaseSeconds = 3600;

/** A webhook message that a reader has leased. Until the lease ends, no other reader gets this message. */
export interface PulledMessage
  extends SignedMessage, Pick<ClaimedDelivery, 'id' | 'createdAt' | 'leaseEndsAt'> {
  /** The name of the event, such as `whitelist.created`. */
  event: string;
}

/**
 * A claimed webhook delivery. If an earlier lease of the message ended without an acknowledgement, `unacknowledgedMs`
 * is the length of the earlier lease in milliseconds. Without an earlier lease, `unacknowledgedMs` is null.
 */
type Pulled = ClaimedDelivery & { unacknowledgedMs: number | null };

/** Throws an error if the webhook has push delivery. */
function requirePull({ id, delivery }: Webhook): void {
  if (delivery !== 'PULL')
    throw invalidField('webhookId', 'Must be a webhook with pull delivery; this one posts its messages', id);
}

/** The functions that webhook readers use to pull and acknowledge the messages in the database. */
export type WebhookPulls = ReturnType<typeof createWebhookPulls>;

/**
 * Creates the functions with which readers pull and acknowledge messages.
 *
 * @param services.onAttempt a function that runs for each lease that ended without an acknowledgement, and for each
 * acknowledgement
 */
export function createWebhookPulls(services: {
  prisma: PrismaClient;
  sql: Sql;
  secrets: WebhookSecretBox;
  onAttempt: (attempt: { outcome: AttemptOutcome; durationMs: number }) => void;
}) {
  const { prisma, sql, secrets, onAttempt } = services;

  /**
   * Throws an error if the gateway cannot decrypt the secrets that sign the messages of a webhook, because the secrets
   * were encrypted with another pepper.
   */
  async function requireSecrets({ id, secret, formerSecret, formerSecretEndsAt }: Webhook): Promise<void> {
    secrets.open(id, secret);
    if (formerSecret && formerSecretEndsAt && formerSecretEndsAt > (await databaseNow(prisma)))
      secrets.open(id, formerSecret);
  }

  /** Counts the leases that ended without an acknowledgement as failed attempts, and marks the webhook as failing. */
  async function noteEndedLeases(webhookId: string, pulled: readonly Pulled[]): Promise<void> {
    const ended = pulled.flatMap(({ unacknowledgedMs }) => unacknowledgedMs ?? []);
    if (ended.length === 0) return;
    for (const durationMs of ended) onAttempt({ outcome: 'retry', durationMs });
    // A separate statement updates the webhook, because a transaction that locked deliveries before their webhook could
    // cause deadlocks.
    await prisma.$executeRaw`
      UPDATE "Webhook" SET "failingSince" = now() WHERE id = ${webhookId} AND "failingSince" IS NULL`;
  }

  return {
    /**
     * Returns waiting messages, oldest first, and gives the reader a lease on each message. Until the lease of a
     * message ends, no other reader gets this message. A response contains fewer than `first` messages if the webhook
     * messages are large.
     *
     * @param first the maximum number of messages
     * @param leaseSeconds the length of the lease
     * @throws {ServiceError} `NOT_FOUND` for an unknown webhook
     * @throws {ServiceError} `VALIDATION_ERROR` for a webhook with push delivery
     * @throws {ServiceError} `CONFLICT` when the webhook is disabled
     */
    async pull(
      key: AuthenticatedKey,
      webhookId: string,
      { first, leaseSeconds }: { first: number; leaseSeconds: number },
    ): Promise<PulledMessage[]> {
      const webhook = await findWebhook(prisma, key, webhookId, 'webhookId');
      requirePull(webhook);
      requireEnabled(webhook, 'webhookId');
      // A reader that gets no messages must also get no leases, so the check comes before the messages are leased.
      await requireSecrets(webhook);
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
     * Marks messages as delivered if a reader has pulled them, even after the lease on the messages has ended. Unknown
     * messages, and messages that are already acknowledged, cause no error and stay unchanged.
     *
     * @returns the number of newly acknowledged messages
     * @throws {ServiceError} `NOT_FOUND` for an unknown webhook
     * @throws {ServiceError} `VALIDATION_ERROR` for a webhook with push delivery
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
     * @throws {ServiceError} `NOT_FOUND` for an unknown webhook
     * @throws {ServiceError} `VALIDATION_ERROR` for a webhook with push delivery
     */
    async findPulled(key: AuthenticatedKey, webhookId: string): Promise<Webhook> {
      const webhook = await findWebhook(prisma, key, webhookId, 'webhookId');
      requirePull(webhook);
      return webhook;
    },
  };
}
