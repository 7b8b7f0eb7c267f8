-- AlterEnum
ALTER TYPE "Permission" ADD VALUE 'WRITE_COMPANIES';

-- CreateIndex
CREATE INDEX "whitelist_entry_plate_code_id" ON "WhitelistEntry"("locationId", "plateCode", "id");

-- CreateIndex
CREATE INDEX "whitelist_entry_plate_number_id" ON "WhitelistEntry"("locationId", "plateNumber", "id");
