-- AlterEnum
ALTER TYPE "AccessReason" ADD VALUE 'OUTSIDE_HOURS';
ALTER TYPE "AccessReason" ADD VALUE 'QUOTA_REACHED';
ALTER TYPE "AccessReason" ADD VALUE 'USED_UP';

-- AlterTable
ALTER TABLE "WhitelistEntry" ADD COLUMN     "hours" JSONB,
ADD COLUMN     "maxEntries" INTEGER;

-- CreateTable
CREATE TABLE "WhitelistEntryUse" (
    "entryId" TEXT NOT NULL,
    "recorded" INTEGER NOT NULL,

    CONSTRAINT "WhitelistEntryUse_pkey" PRIMARY KEY ("entryId")
);

-- As in the migration `whitelist_feed`, but that the count of recorded entries goes with its entry.
CREATE OR REPLACE FUNCTION keep_whitelist_removals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "WhitelistRemoval" (id, "locationId", "plateType", "plateCode", "plateNumber")
  SELECT id, "locationId", "plateType", "plateCode", "plateNumber" FROM removed;
  DELETE FROM "WhitelistEntryUse" u USING removed WHERE u."entryId" = removed.id;
  RETURN NULL;
END;
$$;
