-- One record for each request: a number costs less than a UUID of 36 characters, in the process and in the index.
-- AlterTable
ALTER TABLE "UsageRecord" DROP CONSTRAINT "UsageRecord_pkey",
DROP COLUMN "id",
ADD COLUMN     "id" BIGSERIAL NOT NULL,
ADD CONSTRAINT "UsageRecord_pkey" PRIMARY KEY ("id");
