-- CreateEnum
CREATE TYPE "ParkingEventKind" AS ENUM ('ENTRY', 'EXIT');

-- CreateEnum
CREATE TYPE "AccessReason" AS ENUM ('LISTED', 'NOT_LISTED', 'NOT_YET_VALID', 'EXPIRED');

-- CreateTable
CREATE TABLE "ParkingEvent" (
    "id" TEXT NOT NULL,
    "locationId" TEXT NOT NULL,
    "eventId" TEXT NOT NULL,
    "kind" "ParkingEventKind" NOT NULL,
    "plateType" TEXT NOT NULL,
    "plateCode" TEXT NOT NULL,
    "plateNumber" TEXT NOT NULL,
    "occurredAt" TIMESTAMPTZ(3) NOT NULL,
    "decisionReason" "AccessReason",
    "listed" BOOLEAN NOT NULL,
    "whitelistEntryId" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ParkingEvent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ParkingSession" (
    "id" TEXT NOT NULL,
    "locationId" TEXT NOT NULL,
    "plateType" TEXT NOT NULL,
    "plateCode" TEXT NOT NULL,
    "plateNumber" TEXT NOT NULL,
    "enteredAt" TIMESTAMPTZ(3),
    "exitedAt" TIMESTAMPTZ(3),
    "open" BOOLEAN NOT NULL,
    "listed" BOOLEAN,
    "whitelistEntryId" TEXT,

    CONSTRAINT "ParkingSession_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "parking_event_location_id" ON "ParkingEvent"("locationId", "id");

-- CreateIndex
CREATE INDEX "parking_event_occurred" ON "ParkingEvent"("locationId", "occurredAt");

-- CreateIndex
CREATE INDEX "parking_event_plate" ON "ParkingEvent"("locationId", "plateType", "plateCode", "plateNumber", "occurredAt");

-- CreateIndex
CREATE UNIQUE INDEX "parking_event_event_id_unique" ON "ParkingEvent"("locationId", "eventId");

-- CreateIndex
CREATE INDEX "parking_session_location_id" ON "ParkingSession"("locationId", "id");

-- CreateIndex
CREATE INDEX "parking_session_open_id" ON "ParkingSession"("locationId", "open", "id");

-- AddForeignKey
ALTER TABLE "ParkingEvent" ADD CONSTRAINT "ParkingEvent_locationId_fkey" FOREIGN KEY ("locationId") REFERENCES "Location"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ParkingSession" ADD CONSTRAINT "ParkingSession_id_fkey" FOREIGN KEY ("id") REFERENCES "ParkingEvent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ParkingSession" ADD CONSTRAINT "ParkingSession_locationId_fkey" FOREIGN KEY ("locationId") REFERENCES "Location"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
