-- AlterTable
ALTER TABLE "AuditRecord" ADD COLUMN     "traceparent" TEXT;
