import type { PrismaClient, Webhook } from '../../prisma/generated/client/client.ts';
import type { WebhookEvent } from '../audit/actions.ts';
import { recordChange } from '../audit/record.ts';
import { defaultGraceSeconds } from '../auth/grace-period.ts';
import type { Author } from '../auth/key.ts';
import { owningCompany } from '../companies/owning-company.ts';
import { databaseNow } from '../database/clock.ts';
import type { Sql } from '../database/types.ts';
import { newId } from '../ids.ts';
import { removeHistory } from './history.ts';
import { findWebhook, lockWebhook } from './lock.ts';
import { cancelPending, disableWebhook } from './outbox.ts';
import { requireLocations, requireReadPermissions, requireRoom, requireTarget } from './requirements.ts';
import type { WebhookSecretBox } from './secret-box.ts';
import type { WebhookTarget } from './sender.ts';
import { newWebhookSecret } from './signature.ts';

/** What a client may set; what is left out or null stays as it is. */
interface WebhookValues {
  url?: string | null | undefined;
  events?: readonly WebhookEvent[] | null | undefined;
  locationIds?: readonly string[] | null | undefined;
}

/** A webhook with a secret that is shown once. */
interface IssuedWebhook {
  secret: string;
  webhook: Webhook;
}

/** What the audit log shows of a webhook: nothing of its secrets. */
const audited = ({ id, companyId, url, events, locationIds, disabledAt }: Webhook) => ({
  id,
  companyId,
  url,
  events,
  locationIds,
  disabledAt,
});

const distinct = <Value>(values: readonly Value[]) => [...new Set(values)];

/** The changes of webhooks in one database. */
export type WebhookWrites = ReturnType<typeof createWebhookWrites>;

/**
 * Prepares the changes of webhooks. Each is one transaction that locks the webhook first: several changes at once
 * follow each other, and what comes after a deletion gets `NOT_FOUND`.
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
     * Creates a webhook. With an operator's key and no company it hears of every company.
     *
     * @throws {ServiceError} `FORBIDDEN` for a company out of reach and for events that the key may not read,
     *   `NOT_FOUND` for locations out of reach, `VALIDATION_ERROR` for an address that cannot be posted to and for one
     *   webhook too many
     */
    async create(
      author: Author,
      values: WebhookValues & {
        url: string;
        events: readonly WebhookEvent[];
        companyId?: string | null | undefined;
      },
    ): Promise<IssuedWebhook> {
      const { key } = author;
      const { url, events } = values;
      const companyId =
        key.unrestricted && !values.companyId
          ? null
          : await owningCompany(prisma, key, values.companyId, 'webhooks');
      requireReadPermissions(key, events);
      await requireTarget(target, url);
      const locationIds = distinct(values.locationIds ?? []);
      const id = newId();
      const secret = newWebhookSecret();
      const webhook = await prisma.$transaction(async (transaction) => {
        await requireLocations(transaction, key, companyId, locationIds);
        await requireRoom(transaction, companyId);
        const created = await transaction.webhook.create({
          data: {
            id,
            companyId,
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
     * Changes the fields that are given. Disabling cancels the deliveries that wait.
     *
     * @throws {ServiceError} as `create`, and `NOT_FOUND`; a key that may not read the events can only disable
     */
    async update(
      author: Author,
      id: string,
      values: WebhookValues & { enabled?: boolean | null | undefined },
    ): Promise<Webhook> {
      const { key } = author;
      const { url, events, locationIds, enabled } = values;
      await findWebhook(prisma, key, id);
      if (url) await requireTarget(target, url);
      return prisma.$transaction(async (transaction) => {
        const before = await lockWebhook(transaction, key, id);
        if (url || events || locationIds || enabled) requireReadPermissions(key, events ?? before.events);
        if (locationIds) await requireLocations(transaction, key, before.companyId, locationIds);
        if (enabled === false) await disableWebhook(transaction, id);
        const isEnabling = enabled && before.disabledAt !== null;
        // A change that was being written while the webhook was disabled may have left a delivery.
        if (isEnabling) await cancelPending(transaction, id);
        const after = await transaction.webhook.update({
          where: { id },
          data: {
            ...(url && { url }),
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
      });
    },

    /**
     * Deletes a webhook with its deliveries and returns it as it was. A long history goes first, in small batches; the
     * webhook itself and the deliveries that still wait go in one transaction with the audit record.
     *
     * @throws {ServiceError} `NOT_FOUND`
     */
    async remove(author: Author, id: string): Promise<Webhook> {
      await findWebhook(prisma, author.key, id);
      await removeHistory(sql, id);
      return prisma.$transaction(async (transaction) => {
        const webhook = await lockWebhook(transaction, author.key, id);
        // Changes that are recorded meanwhile wait only from the deletion of the webhook itself on.
        await transaction.webhookDelivery.deleteMany({ where: { webhookId: id } });
        await transaction.webhook.delete({ where: { id } });
        await recordChange(transaction, author, {
          action: 'webhook.deleted',
          targetId: id,
          companyId: webhook.companyId,
          changes: audited(webhook),
        });
        return webhook;
      });
    },

    /**
     * Gives a webhook a new secret. The former one signs too for a grace period, so that receivers can change over.
     *
     * @throws {ServiceError} `NOT_FOUND`
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
