-- CreateEnum
CREATE TYPE "OccupancyCountKind" AS ENUM ('VEHICLES', 'NUMBER');

-- AlterTable
ALTER TABLE "ParkingSession" ADD COLUMN     "corrected" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "countedAt" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "OccupancyCount" (
    "id" TEXT NOT NULL,
    "locationId" TEXT NOT NULL,
    "kind" "OccupancyCountKind" NOT NULL,
    "countedAt" TIMESTAMPTZ(3) NOT NULL,
    "occupied" INTEGER NOT NULL,
    "openSessions" INTEGER NOT NULL DEFAULT 0,
    "fadesAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "OccupancyCount_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "CountedPlate" (
    "id" TEXT NOT NULL,
    "countId" TEXT NOT NULL,
    "plateType" TEXT NOT NULL,
    "plateCode" TEXT NOT NULL,
    "plateNumber" TEXT NOT NULL,
    "whitelistEntryId" TEXT,
    "listed" BOOLEAN NOT NULL,

    CONSTRAINT "CountedPlate_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "occupancy_count_age" ON "OccupancyCount"("countedAt", "id");

-- CreateIndex
CREATE INDEX "occupancy_count_fades" ON "OccupancyCount"("fadesAt");

-- CreateIndex
CREATE UNIQUE INDEX "occupancy_count_unique" ON "OccupancyCount"("locationId", "countedAt", "kind");

-- CreateIndex
CREATE UNIQUE INDEX "counted_plate_unique" ON "CountedPlate"("countId", "plateType", "plateCode", "plateNumber");

-- AddForeignKey
ALTER TABLE "OccupancyCount" ADD CONSTRAINT "OccupancyCount_locationId_fkey" FOREIGN KEY ("locationId") REFERENCES "Location"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "CountedPlate" ADD CONSTRAINT "CountedPlate_countId_fkey" FOREIGN KEY ("countId") REFERENCES "OccupancyCount"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Counted plates are read by family, as events are.
CREATE INDEX "counted_plate_family" ON "CountedPlate"
  ("countId", (translate(upper(right("plateCode" || "plateNumber", 3)), 'OIBSZ', '01852')));

-- The sessions of which something was not seen: what a difference fades by (`adjustmentOf` in src/locations/occupancy.ts).
CREATE INDEX "parking_session_uncertain" ON "ParkingSession"
  ("locationId", (coalesce("endedAt", "exitedAt", TIMESTAMPTZ 'infinity')))
  WHERE "enteredAt" IS NULL OR "exitedAt" IS NULL OR "staysUntil" < "exitedAt";

CREATE TRIGGER counted_plate_removed AFTER DELETE ON "CountedPlate"
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_sessions_of_events();
