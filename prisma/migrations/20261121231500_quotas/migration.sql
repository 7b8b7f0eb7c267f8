-- CreateEnum
CREATE TYPE "QuotaEnforcement" AS ENUM ('HARD', 'REPORT');

-- AlterTable
ALTER TABLE "ParkingEvent" ADD COLUMN     "overQuota" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "Quota" (
    "id" TEXT NOT NULL,
    "locationId" TEXT NOT NULL,
    "referenceId" TEXT NOT NULL,
    "inside" INTEGER NOT NULL,
    "enforcement" "QuotaEnforcement" NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "Quota_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "quota_location_id" ON "Quota"("locationId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "quota_reference_unique" ON "Quota"("locationId", "referenceId");

-- AddForeignKey
ALTER TABLE "Quota" ADD CONSTRAINT "Quota_locationId_fkey" FOREIGN KEY ("locationId") REFERENCES "Location"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Who is inside, for quotas. Only open sessions are in it: no more than vehicles fit, however many there were.
CREATE INDEX "parking_session_open_entry" ON "ParkingSession"("whitelistEntryId") WHERE open;
