-- AlterTable
ALTER TABLE "Location" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "WhitelistEntry" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;
