import type { AuditRecord, Prisma, PrismaClient } from '../../prisma/generated/client/client.ts';
import { prismaList } from '../database/prisma-list.ts';
import type { PagedList } from '../paging.ts';

/**
 * The columns that the gateway reads for a list of audit records. When the gateway lists audit records, it does not
 * read their column `changes`, because the audit record of one import can contain the ids of thousands of whitelist
 * entries.
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

/** A list of audit records, without the field `changes` of each record. */
export type AuditRecordList = PagedList<Pick<AuditRecord, keyof typeof auditRecordColumns>>;

/**
 * Lists the audit records that match a Prisma filter.
 *
 * @param read a function that runs a query, possibly on a standby database whose data is some seconds old
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
