import { auditActions, enumName, isAuditAction, isWebhookEvent } from '../audit/actions.ts';
import type { Transaction } from '../audit/record.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { locationScope } from '../auth/scope.ts';
import { invalidField, locationNotFound, ServiceError } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import type { WebhookTarget } from './sender.ts';

// What must hold for a webhook to be created or changed. Each function throws the error that the client gets.

/** The most webhooks of one company: every change is a message to each of them. */
export const maxWebhooks = 20;

/** A webhook gives its receiver what its events say, so that a key sets it up only for what it may read itself. */
export function requireReadPermissions(key: AuthenticatedKey, events: readonly string[]): void {
  for (const event of events.filter(isAuditAction).filter(isWebhookEvent)) {
    const { readPermission } = auditActions[event];
    if (!key.permissions.has(readPermission)) {
      const message = `API key lacks the permission ${readPermission}, which the event ${enumName(event)} needs`;
      throw new ServiceError('FORBIDDEN', message, { field: 'events', value: enumName(event) });
    }
  }
}

/** Makes sure that messages can be posted to an address. */
export async function requireTarget(target: WebhookTarget, url: string): Promise<void> {
  const fault = await target.fault(url);
  if (fault) throw invalidField('url', fault, url);
}

/** Makes sure that a webhook is narrowed to locations of its company that the key reaches. */
export async function requireLocations(
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
export async function requireRoom(transaction: Transaction, companyId: string | null): Promise<void> {
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`webhooks of ${companyId}`}, 0))`;
  const count = await transaction.webhook.count({ where: { companyId } });
  if (count >= maxWebhooks)
    throw invalidField('companyId', `A company can have at most ${maxWebhooks} webhooks`, companyId);
}
