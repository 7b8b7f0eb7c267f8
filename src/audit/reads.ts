import type { AuditRecord, Prisma, PrismaClient } from '../../prisma/generated/client/client.ts';
import { prismaList } from '../database/prisma-list.ts';
import type { PagedList } from '../paging.ts';

/**
 * The columns of audit records that lists read. The column `changes` is not among them, because the audit record of one
 * import can contain thousands of identifiers.
 */
export const auditRecordColumns = {
  id: true,
  action: true,
  apiKeyId: true,
  requestId: true,
  companyId: true,
  locationId: true,
  targetId: true,
  createdAt: true,
} as const satisfies Prisma.AuditRecordSelect;

/** A list of audit records. The records have no `changes`. */
export type AuditRecordList = PagedList<Omit<AuditRecord, 'changes' | 'traceparent'>>;

/**
 * Lists the audit records that meet a condition.
 *
 * @param read runs a query; the database may be a standby that is some seconds behind
 */
export const listAuditRecords = (
  read: <Result>(ask: (prisma: PrismaClient) => Promise<Result>) => Promise<Result>,
  where: Prisma.AuditRecordWhereInput,
): AuditRecordList =>
  prismaList(
    {
      findMany: (query) =>
        read((prisma) => prisma.auditRecord.findMany({ ...query, select: auditRecordColumns })),
      count: (query) => read((prisma) => prisma.auditRecord.count(query)),
    },
    where,
  );
