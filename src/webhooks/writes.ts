import type { PrismaClient, Webhook } from '../../prisma/generated/client/client.ts';
import type { WebhookDeliveryKind } from '../../prisma/generated/client/enums.ts';
import type { WebhookEvent } from '../audit/actions.ts';
import { recordChange } from '../audit/record.ts';
import { defaultGraceSeconds } from '../auth/grace-period.ts';
import type { Author, WaitingAuthor } from '../auth/key.ts';
import { owningCompany } from '../companies/owning-company.ts';
import { databaseNow } from '../database/clock.ts';
import { type NamedStatement, queryInTransaction } from '../database/named-statement.ts';
import type { Sql, Transaction } from '../database/types.ts';
import { newId } from '../ids.ts';
import { requireLocations } from '../location-access/require-locations.ts';
import { cancelBatch, maxBatchDeliveries, removeBatch } from './batch-statements.ts';
import { inBatches } from './in-batches.ts';
import { findWebhook, lockWebhook } from './lock.ts';
import { cancelPending, disableWebhook } from './outbox.ts';
import {
  requireBelowMaxWebhooks,
  requireReadableMessages,
  requireReadPermissions,
  requireTarget,
} from './requirements.ts';
import type { WebhookSecretBox } from './secret-box.ts';
import type { WebhookTarget } from './sender.ts';
import { newWebhookSecret } from './signature.ts';

/**
 * The values of a webhook that a client can set. When a client updates a webhook, values that are omitted or null stay
 * unchanged.
 */
interface WebhookValues {
  url?: string | null | undefined;
  events?: readonly WebhookEvent[] | null | undefined;
  locationIds?: readonly string[] | null | undefined;
}

/** A webhook with its new signing secret. The client cannot read the signing secret again later. */
interface IssuedWebhook {
  secret: string;
  webhook: Webhook;
}

/**
 * Returns the values of a webhook for an audit record. The audit record does not contain the signing secrets of the
 * webhook.
 */
const audited = ({ id, companyId, delivery, url, events, locationIds, disabledAt }: Webhook) => ({
  id,
  companyId,
  delivery,
  url,
  events,
  locationIds,
  disabledAt,
});

/** Returns whether a client sent a value. An empty string counts as a value that the client sent, but null does not. */
const isGiven = <Value>(value: Value | null | undefined): value is Value =>
  value !== null && value !== undefined;

const distinct = <Value>(values: readonly Value[]) => [...new Set(values)];

/**
 * Runs a statement that cancels or removes one batch of deliveries of a webhook. Returns true if the batch was full,
 * which means that the statement found the maximum number of deliveries of a batch. If the batch was full, the webhook
 * may have more deliveries, so the caller must run the SQL statement again.
 */
async function isFullBatch(
  transaction: Transaction,
  statement: NamedStatement,
  webhookId: string,
): Promise<boolean> {
  const [batch] = await queryInTransaction<{ count: number }>(transaction, statement, { webhookId });
  return batch?.count === maxBatchDeliveries;
}

/** The functions that create, change and delete webhooks in the database. */
export type WebhookWrites = ReturnType<typeof createWebhookWrites>;

/**
 * Creates the functions that create, change and delete webhooks in the database. At the start of its transaction, a
 * function that changes or deletes a webhook locks the row of this webhook. Concurrent changes of a webhook therefore
 * run one after the other. A function that changes or deletes a webhook fails with `NOT_FOUND` if another request has
 * already deleted the webhook.
 */
export function createWebhookWrites(services: {
  prisma: PrismaClient;
  sql: Sql;
  secrets: WebhookSecretBox;
  target: WebhookTarget;
}) {
  const { prisma, sql, secrets, target } = services;
  return {
    /**
     * Creates a webhook. Only an operator's API key can create a webhook without a company. A webhook without a company
     * receives the events of all companies.
     *
     * @throws {ServiceError} `UNAUTHORIZED` or `FORBIDDEN` when the API key has lost its access while the function
     *   looked up the DNS name of the receiver
     * @throws {ServiceError} `FORBIDDEN` for a company outside the API key's scope, and for events that the API key may
     *   not read
     * @throws {ServiceError} `NOT_FOUND` for locations outside the API key's scope
     * @throws {ServiceError} `VALIDATION_ERROR` if messages cannot be posted to the URL, or if the company already has
     *   the maximum number of webhooks
     */
    async create(
      author: WaitingAuthor,
      values: WebhookValues & {
        delivery?: WebhookDeliveryKind | null | undefined;
        events: readonly WebhookEvent[];
        companyId?: string | null | undefined;
      },
    ): Promise<IssuedWebhook> {
      const { key } = author;
      const { events } = values;
      const delivery = values.delivery ?? 'PUSH';
      const url = values.url ?? null;
      const companyId =
        key.unrestricted && !isGiven(values.companyId)
          ? null
          : await owningCompany(prisma, key, values.companyId, 'webhooks');
      requireReadPermissions(key, events);
      await requireTarget(author, target, { delivery, url, companyId });
      const locationIds = distinct(values.locationIds ?? []);
      const id = newId();
      const secret = newWebhookSecret();
      const webhook = await prisma.$transaction(async (transaction) => {
        await requireLocations(transaction, key, locationIds, companyId);
        await requireBelowMaxWebhooks(transaction, companyId);
        const created = await transaction.webhook.create({
          data: {
            id,
            companyId,
            delivery,
            url,
            events: distinct(events),
            locationIds,
            secret: secrets.seal(id, secret),
          },
        });
        await recordChange(transaction, author, {
          action: 'webhook.created',
          targetId: id,
          companyId,
          changes: audited(created),
        });
        return created;
      });
      return { secret, webhook };
    },

    /**
     * Changes the given fields of a webhook. If the change disables the webhook, the function then cancels the pending
     * deliveries of the webhook in batches. If the change enables the webhook, the function first cancels the
     * deliveries that are still pending.
     *
     * @throws {ServiceError} `NOT_FOUND` for an unknown webhook, and the errors that `create` throws. An API key may
     *   lack read access to the events of the webhook. A client with such an API key can only disable the webhook, or
     *   subscribe it to other events. Only an API key that may also read the waiting messages can change the URL,
     *   because the new receiver gets these messages
     */
    async update(
      author: WaitingAuthor,
      id: string,
      values: WebhookValues & { enabled?: boolean | null | undefined },
    ): Promise<Webhook> {
      const { key } = author;
      const { url, events, locationIds, enabled } = values;
      const { delivery, companyId } = await findWebhook(prisma, key, id);
      if (isGiven(url)) await requireTarget(author, target, { delivery, url, companyId });
      const change = async (transaction: Transaction): Promise<Webhook | undefined> => {
        const before = await lockWebhook(transaction, key, id);
        const isMoved = isGiven(url) && url !== before.url;
        if (isGiven(url) || events || locationIds || enabled)
          requireReadPermissions(key, events ?? before.events);
        if (isMoved) {
          requireReadPermissions(key, before.events);
          await requireReadableMessages(transaction, key, id);
        }
        if (locationIds) await requireLocations(transaction, key, locationIds, before.companyId);
        if (enabled === false) await disableWebhook(transaction, id);
        const isEnabling = enabled && before.disabledAt !== null;
        // A disabled webhook can still have pending deliveries. Another transaction may have added a delivery while the
        // webhook was being disabled. It is also possible that the gateway process disabled the webhook, but ended
        // before it had cancelled all deliveries.
        if (isEnabling && (await isFullBatch(transaction, cancelBatch, id))) return undefined;
        const after = await transaction.webhook.update({
          where: { id },
          data: {
            ...(isGiven(url) && { url }),
            // A new URL can mean a new receiver, so the gateway forgets that earlier deliveries to the old URL failed.
            ...(isMoved && { failingSince: null }),
            ...(events && { events: distinct(events) }),
            ...(locationIds && { locationIds: distinct(locationIds) }),
            ...(isEnabling && { disabledAt: null, failingSince: null }),
            updatedAt: await databaseNow(transaction),
          },
        });
        await recordChange(transaction, author, {
          action: 'webhook.updated',
          targetId: id,
          companyId: after.companyId,
          changes: { before: audited(before), after: audited(after) },
        });
        return after;
      };
      const after = await inBatches(author, () => prisma.$transaction(change));
      if (enabled === false) await cancelPending(sql, id);
      return after;
    },

    /**
     * Deletes a webhook with its deliveries, and returns the last state of the webhook. The function deletes the
     * deliveries in batches. The transaction that deletes the last batch also deletes the webhook, and writes the audit
     * record.
     *
     * @throws {ServiceError} `NOT_FOUND` for an unknown webhook
     */
    async remove(author: WaitingAuthor, id: string): Promise<Webhook> {
      const removeNext = async (transaction: Transaction): Promise<Webhook | undefined> => {
        const webhook = await lockWebhook(transaction, author.key, id);
        if (await isFullBatch(transaction, removeBatch, id)) return undefined;
        // After the deletion of the webhook row, other transactions that add a delivery for the webhook wait until this
        // transaction ends. The last transaction therefore deletes the webhook row as late as possible, after the
        // deliveries. Other transactions then wait only for a short time.
        await transaction.webhook.delete({ where: { id } });
        await recordChange(transaction, author, {
          action: 'webhook.deleted',
          targetId: id,
          companyId: webhook.companyId,
          changes: audited(webhook),
        });
        return webhook;
      };
      return inBatches(author, () => prisma.$transaction(removeNext));
    },

    /**
     * Creates a new signing secret for a webhook. During a grace period, the gateway also signs webhook messages with
     * the old secret, so that receivers have time to change to the new secret.
     *
     * @throws {ServiceError} `NOT_FOUND` for an unknown webhook
     */
    async rotateSecret(
      author: Author,
      id: string,
      graceSeconds: number = defaultGraceSeconds,
    ): Promise<IssuedWebhook> {
      const secret = newWebhookSecret();
      const webhook = await prisma.$transaction(async (transaction) => {
        const { secret: formerSecret, companyId } = await lockWebhook(transaction, author.key, id);
        const now = await databaseNow(transaction);
        const formerSecretEndsAt = new Date(now.getTime() + graceSeconds * 1000);
        const rotated = await transaction.webhook.update({
          where: { id },
          data: { secret: secrets.seal(id, secret), formerSecret, formerSecretEndsAt, updatedAt: now },
        });
        await recordChange(transaction, author, {
          action: 'webhook.rotated',
          targetId: id,
          companyId,
          changes: { formerSecretEndsAt },
        });
        return rotated;
      });
      return { secret, webhook };
    },
  };
}
