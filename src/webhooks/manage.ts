import type { PrismaClient, Webhook } from '../../prisma/generated/client/client.ts';
import {
  auditActions,
  enumName,
  isWebhookEvent,
  isAuditAction,
  type WebhookEvent,
} from '../audit/actions.ts';
import { recordChange, type Transaction } from '../audit/record.ts';
import { defaultGraceSeconds } from '../auth/grace-period.ts';
import type { AuthenticatedKey, Author } from '../auth/key.ts';
import { locationScope } from '../auth/scope.ts';
import { owningCompany } from '../companies/owning-company.ts';
import { databaseNow } from '../database/clock.ts';
import type { Sql, Statement } from '../database/types.ts';
import { invalidField, locationNotFound, ServiceError } from '../errors/error-table.ts';
import { isId, newId } from '../ids.ts';
import { cancelPending, disableWebhook } from './outbox.ts';
import { findWebhook, lockWebhook } from './reads.ts';
import type { WebhookSecretBox } from './secret-box.ts';
import type { WebhookTarget } from './sender.ts';
import { newWebhookSecret } from './signature.ts';

// The changes of webhooks. Each function checks the key's reach, writes, and leaves the audit record, in one
// transaction that locks the webhook first: several changes at once follow each other, and what comes after a deletion
// gets NOT_FOUND.

/** The most webhooks of one company: every change is a message to each of them. */
export const maxWebhooks = 20;

/** What the changes of webhooks need besides their author. */
export interface WebhookServices {
  prisma: PrismaClient;
  sql: Sql;
  webhookSecrets: WebhookSecretBox;
  webhookTarget: WebhookTarget;
}

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

/** A webhook gives its receiver what its events say, so that a key sets it up only for what it may read itself. */
function requireReadPermissions(key: AuthenticatedKey, events: readonly string[]): void {
  for (const event of events.filter(isAuditAction).filter(isWebhookEvent)) {
    const { readPermission } = auditActions[event];
    if (!key.permissions.has(readPermission)) {
      const message = `API key lacks the permission ${readPermission}, which the event ${enumName(event)} needs`;
      throw new ServiceError('FORBIDDEN', message, { field: 'events', value: enumName(event) });
    }
  }
}

async function requireTarget(target: WebhookTarget, url: string): Promise<void> {
  const fault = await target.fault(url);
  if (fault) throw invalidField('url', fault, url);
}

/** Makes sure that a webhook is narrowed to locations of its company that the key reaches. */
async function requireLocations(
  transaction: Transaction,
  key: AuthenticatedKey,
  companyId: string | null,
  locationIds: readonly string[],
): Promise<void> {
  const found = await transaction.location.findMany({
    where: {
      AND: [locationScope(key), { id: { in: locationIds.filter(isId) }, ...(companyId && { companyId }) }],
    },
    select: { id: true },
  });
  const unknown = locationIds.find((id) => !found.some((location) => location.id === id));
  if (unknown !== undefined) throw locationNotFound(unknown);
}

/** Refuses one webhook too many. Transactions that create one for the same company wait for each other from here on. */
async function requireRoom(transaction: Transaction, companyId: string | null): Promise<void> {
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`webhooks of ${companyId}`}, 0))`;
  const count = await transaction.webhook.count({ where: { companyId } });
  if (count >= maxWebhooks)
    throw invalidField('companyId', `A company can have at most ${maxWebhooks} webhooks`, companyId);
}

const distinct = <Value>(values: readonly Value[]) => [...new Set(values)];

/**
 * Creates a webhook. With an operator's key and no company it hears of every company.
 *
 * @throws {ServiceError} `FORBIDDEN` for a company out of reach and for events that the key may not read,
 *   `NOT_FOUND` for locations out of reach, `VALIDATION_ERROR` for an address that cannot be posted to and for one
 *   webhook too many
 */
export async function createWebhook(
  { prisma, webhookSecrets, webhookTarget }: WebhookServices,
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
  await requireTarget(webhookTarget, url);
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
        secret: webhookSecrets.seal(id, secret),
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
}

/**
 * Changes the fields that are given. Disabling cancels the deliveries that wait.
 *
 * @throws {ServiceError} as `createWebhook`, and `NOT_FOUND`; a key that may not read the events can only disable
 */
export async function updateWebhook(
  { prisma, webhookTarget }: WebhookServices,
  author: Author,
  id: string,
  values: WebhookValues & { enabled?: boolean | null | undefined },
): Promise<Webhook> {
  const { key } = author;
  const { url, events, locationIds, enabled } = values;
  await findWebhook(prisma, key, id);
  if (url) await requireTarget(webhookTarget, url);
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
}

/** Removes a part of the history of a webhook and returns how much. Deliveries that another process is removing stay. */
const removeHistory: Statement = {
  name: 'webhook-remove-history',
  text: `
    WITH removed AS (
      DELETE FROM "WebhookDelivery" WHERE id IN (
        SELECT id FROM "WebhookDelivery" WHERE "webhookId" = $1 AND status <> 'PENDING' LIMIT $2 FOR UPDATE SKIP LOCKED)
      RETURNING 1
    )
    SELECT count(*)::int AS count FROM removed`,
};

/** Deliveries that are removed in one statement: few enough that nobody waits for it. */
const historyBatchSize = 1000;

/**
 * Deletes a webhook with its deliveries and returns it as it was. A long history goes first, in small batches; the
 * webhook itself and the deliveries that still wait go in one transaction with the audit record.
 *
 * @throws {ServiceError} `NOT_FOUND`
 */
export async function deleteWebhook(
  { prisma, sql }: WebhookServices,
  author: Author,
  id: string,
): Promise<Webhook> {
  await findWebhook(prisma, author.key, id);
  for (let removed = historyBatchSize; removed === historyBatchSize;) {
    const [batch] = await sql.query<{ count: number }>(removeHistory, [id, historyBatchSize]);
    removed = batch?.count ?? 0;
  }
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
}

/**
 * Gives a webhook a new secret. The former one signs too for a grace period, so that receivers can change over.
 *
 * @throws {ServiceError} `NOT_FOUND`
 */
export async function rotateWebhookSecret(
  { prisma, webhookSecrets }: WebhookServices,
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
      data: { secret: webhookSecrets.seal(id, secret), formerSecret, formerSecretEndsAt, updatedAt: now },
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
}
