import type { Prisma } from '../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from './auth.ts';
import { newId } from './ids.ts';

/** A Prisma client inside of a transaction. */
export type Transaction = Prisma.TransactionClient;

/** Who changes something, and in which request: what an audit record says. */
export interface Author {
  key: AuthenticatedKey;
  requestId: string;
}

/** What a change did, for the audit log. */
export interface AuditedChange {
  /** What happened, named like the webhook event of it: `company.registered`. */
  action: string;
  /** The id of what changed. */
  targetId: string;
  companyId?: string | null;
  locationId?: string;
  /** The values after the change, or before and after, as JSON shows them; never a secret. */
  changes?: object;
}

/**
 * Leaves the record of a change (decisions, "all use is logged"). Called in the transaction of the
 * change, so that there is never one without the other. Webhooks hear of what is recorded here.
 *
 * @param author without a key for what the service does by itself
 * @returns the identifier of the record
 */
export async function recordChange(
  transaction: Transaction,
  author: { key: Pick<AuthenticatedKey, 'id'> | null; requestId: string },
  { changes, ...change }: AuditedChange,
): Promise<string> {
  const id = newId();
  await transaction.auditRecord.create({
    data: {
      id,
      apiKeyId: author.key?.id ?? null,
      requestId: author.requestId,
      ...change,
      ...(changes && { changes: JSON.parse(JSON.stringify(changes)) as Prisma.InputJsonObject }),
    },
  });
  return id;
}
