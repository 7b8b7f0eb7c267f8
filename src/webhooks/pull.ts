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

/** The maximum number of webhook messages that a client can pull or acknowledge with one request. */
export const maxPulledMessages = 100;
/** The shortest and the longest lease that a client can request for pulled webhook messages, in seconds. */
export const minLeaseSeconds = 10;
export const maxLeaseSeconds = 3600;

/**
 * A webhook message that a client has pulled, and on which this client has a lease. Until the lease of a message ends,
 * no other client can pull this message.
 */
export interface PulledMessage
  extends SignedMessage, Pick<ClaimedDelivery, 'id' | 'createdAt' | 'leaseEndsAt'> {
  /** The name of the event, such as `whitelist.created`. */
  event: string;
}

/**
 * A claimed webhook delivery. If an earlier lease of the message ended without an acknowledgement, `unacknowledgedMs`
 * is the length of the earlier lease in milliseconds. If the message had no earlier lease, `unacknowledgedMs` is null.
 */
type Pulled = ClaimedDelivery & { unacknowledgedMs: number | null };

/** Throws an error if the webhook has push delivery. */
function requirePull({ id, delivery }: Webhook): void {
  if (delivery !== 'PULL')
    throw invalidField('webhookId', 'Must be a webhook with pull delivery; this one posts its messages', id);
}

/** The functions for pull webhooks: clients call them to pull webhook messages and to acknowledge the messages. */
export type WebhookPulls = ReturnType<typeof createWebhookPulls>;

/**
 * Creates the functions that lease webhook messages to clients, and store the acknowledgements of the clients.
 *
 * @param services.onAttempt the gateway calls this function for each acknowledgement, and for each lease that ended
 *   without an acknowledgement
 */
export function createWebhookPulls(services: {
  prisma: PrismaClient;
  sql: Sql;
  secrets: WebhookSecretBox;
  onAttempt: (attempt: { outcome: AttemptOutcome; durationMs: number }) => void;
}) {
  const { prisma, sql, secrets, onAttempt } = services;

  /**
   * Throws an error if the gateway cannot decrypt the signing secrets of a webhook. The decryption fails if the secrets
   * were encrypted with another pepper.
   */
  async function requireSecrets({ id, secret, formerSecret, formerSecretEndsAt }: Webhook): Promise<void> {
    secrets.open(id, secret);
    if (formerSecret && formerSecretEndsAt && formerSecretEndsAt > (await databaseNow(prisma)))
      secrets.open(id, formerSecret);
  }

  /**
   * If a lease ended without an acknowledgement, counts a failed delivery attempt for this lease, and marks the webhook
   * as failing.
   */
  async function noteEndedLeases(webhookId: string, pulled: readonly Pulled[]): Promise<void> {
    const ended = pulled.flatMap(({ unacknowledgedMs }) => unacknowledgedMs ?? []);
    if (ended.length === 0) return;
    for (const durationMs of ended) onAttempt({ outcome: 'retry', durationMs });
    // This statement is not part of the transaction that locks the deliveries. A transaction must lock a webhook before
    // its deliveries, because otherwise deadlocks could occur.
    await prisma.$executeRaw`
      UPDATE "Webhook" SET "failingSince" = now() WHERE id = ${webhookId} AND "failingSince" IS NULL`;
  }

  return {
    /**
     * Returns the webhook messages that wait to be pulled, oldest first, and gives the client a lease on each message.
     * Until the lease of a message ends, no other client can pull this message. If the webhook messages are large, a
     * response contains fewer than `first` messages.
     *
     * @param first the maximum number of webhook messages that the client gets
     * @param leaseSeconds the length of each message's lease, in seconds
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
      // The function checks the webhook's secrets before it leases messages to the client. If the gateway cannot
      // decrypt a secret, the client gets an error instead of the messages, so the function must not lease the
      // messages.
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
     * Marks pulled webhook messages as delivered, even if the lease of a message has already ended. The function
     * ignores unknown messages and messages that are already acknowledged, and throws no error for them.
     *
     * @returns how many messages this call marked as delivered
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
