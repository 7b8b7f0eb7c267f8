import type { AuditRecord, Prisma, PrismaClient } from '../../prisma/generated/client/client.ts';
import { prismaList } from '../database/prisma-list.ts';
import type { PagedList } from '../pages.ts';

/** The columns that every record is read with: `changes` of an import name thousands of entries. */
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

/** A page of audit records, without their changes. */
export type AuditRecordList = PagedList<Omit<AuditRecord, 'changes' | 'traceparent'>>;

/**
 * The audit records that meet a condition.
 *
 * @param read gives a database to read from, which may be some seconds behind
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
