-- AlterTable
ALTER TABLE "ParkingEvent" RENAME COLUMN "decisionReason" TO "decision";

-- AlterTable
ALTER TABLE "ParkingSession" ALTER COLUMN "listed" SET NOT NULL;

-- CreateIndex
CREATE INDEX "parking_event_age" ON "ParkingEvent"("occurredAt", "id");
