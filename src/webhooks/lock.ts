import type { Webhook } from '../../prisma/generated/client/client.ts';
import { lockRow } from '../database/row-lock.ts';
import type { Transaction } from '../database/types.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { webhookScope } from '../auth/scope.ts';
import { ServiceError, shown } from '../errors/error-table.ts';
import { isId } from '../ids.ts';

/** The name of the argument with which a client sends the id of a webhook. */
type IdField = 'id' | 'webhookId';

/**
 * Finds a webhook by an id that a client sent.
 *
 * @param client the Prisma client or a transaction
 * @param field the name of the argument in which the client sent the id; the error contains this name
 * @throws {ServiceError} `NOT_FOUND` for an unknown webhook and for a webhook outside the API key's scope
 */
export async function findWebhook(
  client: Transaction,
  key: AuthenticatedKey,
  id: string,
  field: IdField = 'id',
): Promise<Webhook> {
  const webhook = isId(id)
    ? await client.webhook.findFirst({ where: { AND: [{ id }, webhookScope(key)] } })
    : null;
  if (!webhook) throw webhookNotFound(id, field);
  return webhook;
}

/**
 * Locks a webhook in the database until the transaction ends. Other transactions can still add deliveries to the locked
 * webhook.
 *
 * @throws {ServiceError} `NOT_FOUND` for an unknown webhook
 */
export async function lockWebhook(
  transaction: Transaction,
  key: AuthenticatedKey,
  id: string,
  field: IdField = 'id',
): Promise<Webhook> {
  await findWebhook(transaction, key, id, field);
  await lockRow(transaction, 'Webhook', id);
  const webhook = await transaction.webhook.findUnique({ where: { id } });
  if (!webhook) throw webhookNotFound(id, field);
  return webhook;
}

/** The error with status 404 for a webhook that is unknown, deleted, or outside the API key's scope. */
const webhookNotFound = (id: string, field: IdField) =>
  new ServiceError('NOT_FOUND', 'Webhook not found', { field, value: shown(id) });

/**
 * Throws an error when a webhook is disabled.
 *
 * @throws {ServiceError} `CONFLICT`
 */
export function requireEnabled({ id, disabledAt }: Webhook, field: IdField = 'id'): void {
  if (disabledAt) throw new ServiceError('CONFLICT', 'Webhook is disabled', { field, value: id });
}

/** The error with status 404 for a delivery that is unknown, or whose webhook is outside the API key's scope. */
export const deliveryNotFound = (deliveryId: string) =>
  new ServiceError('NOT_FOUND', 'Webhook delivery not found', {
    field: 'deliveryId',
    value: shown(deliveryId),
  });
