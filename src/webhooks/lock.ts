import type { Webhook } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../audit/record.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { webhookScope } from '../auth/scope.ts';
import { ServiceError, shown } from '../errors/error-table.ts';
import { isId } from '../ids.ts';

/**
 * The webhook of an id that a client sent.
 *
 * @param client Prisma, or a transaction of it
 * @throws {ServiceError} `NOT_FOUND` for an unknown webhook and for one out of the key's reach
 */
export async function findWebhook(client: Transaction, key: AuthenticatedKey, id: string) {
  const webhook = isId(id)
    ? await client.webhook.findFirst({ where: { AND: [{ id }, webhookScope(key)] } })
    : null;
  if (!webhook) throw webhookNotFound(id);
  return webhook;
}

/**
 * Locks a webhook for the rest of a transaction. Not `FOR UPDATE`, for which changes would wait that are recorded for
 * the webhook at the same time.
 *
 * @throws {ServiceError} `NOT_FOUND`
 */
export async function lockWebhook(
  transaction: Transaction,
  key: AuthenticatedKey,
  id: string,
): Promise<Webhook> {
  await findWebhook(transaction, key, id);
  await transaction.$queryRaw`SELECT id FROM "Webhook" WHERE id = ${id} FOR NO KEY UPDATE`;
  const webhook = await transaction.webhook.findUnique({ where: { id } });
  if (!webhook) throw webhookNotFound(id);
  return webhook;
}

/** 404 for a webhook that is unknown, deleted, or out of the key's reach. */
const webhookNotFound = (id: string) =>
  new ServiceError('NOT_FOUND', 'Webhook not found', { field: 'id', value: shown(id) });

/** 404 for a delivery that is unknown, or whose webhook is out of the key's reach. */
export const deliveryNotFound = (deliveryId: string) =>
  new ServiceError('NOT_FOUND', 'Webhook delivery not found', {
    field: 'deliveryId',
    value: shown(deliveryId),
  });
