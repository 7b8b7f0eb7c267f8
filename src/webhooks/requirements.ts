import type { Webhook } from '../../prisma/generated/client/client.ts';
import {
  auditActions,
  enumName,
  isAuditAction,
  isWebhookEvent,
  mayReadChanges,
  type WebhookEvent,
  webhookEvents,
} from '../audit/actions.ts';
import type { Transaction } from '../database/types.ts';
import type { AuthenticatedKey, WaitingAuthor } from '../auth/key.ts';
import { advisoryLocks } from '../database/advisory-locks.ts';
import { invalidField, ServiceError } from '../errors/error-table.ts';
import type { WebhookTarget } from './sender.ts';

// The functions of this file check the conditions for creating or changing a webhook. If a webhook does not meet one of
// these conditions, the function throws an error for the client.

/**
 * The maximum number of webhooks for one company. The number of webhooks is limited, because every change creates a
 * message for each webhook of the company.
 */
export const maxWebhooks = 20;

/**
 * Checks that the API key may read the content of the events that a webhook sends to its receiver.
 *
 * @param field the name of the request argument to which the error refers
 * @throws {ServiceError} `FORBIDDEN`
 */
export function requireReadPermissions(
  key: AuthenticatedKey,
  events: readonly string[],
  field = 'events',
): void {
  for (const event of events.filter(isAuditAction).filter(isWebhookEvent)) {
    const { readPermission } = auditActions[event];
    if (!key.permissions.has(readPermission)) {
      const message = `API key lacks the permission ${readPermission}, which the event ${enumName(event)} requires`;
      throw new ServiceError('FORBIDDEN', message, { field, value: enumName(event) });
    }
  }
}

/** Returns the kinds of events whose content the API key may not read. */
export const unreadableEvents = ({ permissions }: AuthenticatedKey): WebhookEvent[] =>
  webhookEvents.filter((event) => !mayReadChanges(permissions, event));

/**
 * Before a client changes the URL of a webhook, checks that the API key may read the webhook messages that still wait
 * for delivery. When a webhook no longer subscribes to a kind of event, older messages about such events can still wait
 * for delivery. The function first waits until all transactions that add messages to the webhook have ended, because it
 * cannot see the messages of a running transaction.
 *
 * @throws {ServiceError} `FORBIDDEN`
 */
export async function requireReadableMessages(
  transaction: Transaction,
  key: AuthenticatedKey,
  webhookId: string,
): Promise<void> {
  const unreadable = unreadableEvents(key);
  if (unreadable.length === 0) return;
  await transaction.$executeRaw`SELECT id FROM "Webhook" WHERE id = ${webhookId} FOR UPDATE`;
  const waiting = await transaction.webhookDelivery.findFirst({
    where: { webhookId, status: 'PENDING', type: { in: unreadable } },
  });
  if (waiting) requireReadPermissions(key, [waiting.type], 'url');
}

/**
 * Checks the URL of a webhook. For push delivery, the gateway must be able to post messages to the URL. A webhook with
 * pull delivery must have no URL. The DNS look-up of the host can take some time, so the function checks the API key
 * again after the look-up.
 *
 * @param webhook.companyId the company that owns the webhook; null for an operator's webhook
 * @throws {ServiceError} `VALIDATION_ERROR` for an invalid URL
 * @throws {ServiceError} `UNAUTHORIZED` or `FORBIDDEN` when the API key lost its access during the DNS look-up
 */
export async function requireTarget(
  author: WaitingAuthor,
  target: WebhookTarget,
  { delivery, url, companyId }: Pick<Webhook, 'delivery' | 'url' | 'companyId'>,
): Promise<void> {
  if (delivery === 'PULL') {
    if (url !== null) throw invalidField('url', 'Must be omitted for pull delivery', url);
    return;
  }
  const fault = url === null ? 'Is required for push delivery' : await target.fault(url, companyId ?? '');
  // The API key is checked again, because it may have been revoked while the gateway looked up the host of the URL.
  await author.reauthenticate();
  if (fault) throw invalidField('url', fault, url);
}

/**
 * Throws an error when a company already has the maximum number of webhooks. Until the caller's transaction ends, no
 * other transaction can create a webhook for the same company.
 */
export async function requireBelowMaxWebhooks(
  transaction: Transaction,
  companyId: string | null,
): Promise<void> {
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`webhooks of ${companyId}`}, ${advisoryLocks.webhooksOfCompany}::bigint))`;
  const count = await transaction.webhook.count({ where: { companyId } });
  if (count >= maxWebhooks)
    throw invalidField('companyId', `A company can have at most ${maxWebhooks} webhooks`, companyId);
}
