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

/** The audit records that meet a condition, without their changes. */
export const listAuditRecords = (
  prisma: PrismaClient,
  where: Prisma.AuditRecordWhereInput,
): PagedList<Omit<AuditRecord, 'changes' | 'traceparent'>> =>
  prismaList(
    {
      findMany: (query) => prisma.auditRecord.findMany({ ...query, select: auditRecordColumns }),
      count: (query) => prisma.auditRecord.count(query),
    },
    where,
  );
