import type { AuditRecord } from '../prisma/generated/client/client.ts';

/** The changes that a webhook can wait for: audit actions. */
export const webhookEvents = [
  'company.registered',
  'location.created',
  'location.updated',
  'whitelist.created',
  'whitelist.updated',
  'whitelist.deleted',
  'whitelist.imported',
  'parking.entered',
  'parking.exited',
  'location.full',
  'location.available',
] as const;

/** What a delivery on request is called. */
export const testEvent = 'webhook.test';

/** The lists of an import have up to 10,000 identifiers each: a message says how many. */
function withCounts(changes: object): object {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [name, Array.isArray(value) ? value.length : value]),
  );
}

/**
 * The body of a message (Standard Webhooks, "Payload structure"). It says the same at every attempt: audit
 * records do not change.
 */
export function webhookBody(type: string, record: AuditRecord): string {
  const { companyId, locationId, targetId, changes, createdAt } = record;
  const isImport = type === 'whitelist.imported' && typeof changes === 'object' && changes !== null;
  return JSON.stringify({
    type,
    timestamp: createdAt,
    data: { companyId, locationId, targetId, changes: isImport ? withCounts(changes) : changes },
  });
}
