-- AlterTable
ALTER TABLE "UsageRecord" ADD COLUMN     "errorCode" TEXT;
