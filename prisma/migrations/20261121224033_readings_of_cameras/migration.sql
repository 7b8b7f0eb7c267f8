-- AlterTable
ALTER TABLE "ParkingEvent" ADD COLUMN     "confidence" DOUBLE PRECISION,
ADD COLUMN     "text" TEXT;
