-- The feed of changes of a whitelist (src/whitelist/changes.ts). Identifiers and timestamps are made before a
-- transaction commits, and so are no order of commits: each change keeps the number of its transaction, which a
-- snapshot can be asked about.

-- AlterTable: entries that are there get a number that every snapshot sees, without a rewrite of the table.
ALTER TABLE "WhitelistEntry" ADD COLUMN "changedIn" xid8 NOT NULL DEFAULT '0';
ALTER TABLE "WhitelistEntry" ALTER COLUMN "changedIn" SET DEFAULT pg_current_xact_id();

-- CreateTable
CREATE TABLE "WhitelistRemoval" (
    "id" TEXT NOT NULL,
    "locationId" TEXT NOT NULL,
    "plateType" TEXT NOT NULL,
    "plateCode" TEXT NOT NULL,
    "plateNumber" TEXT NOT NULL,
    "removedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "changedIn" xid8 NOT NULL DEFAULT pg_current_xact_id(),

    CONSTRAINT "WhitelistRemoval_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "whitelist_removal_changed_in" ON "WhitelistRemoval"("locationId", "changedIn", "id");

-- CreateIndex
CREATE INDEX "whitelist_removal_age" ON "WhitelistRemoval"("removedAt");

-- CreateIndex
CREATE INDEX "whitelist_entry_changed_in" ON "WhitelistEntry"("locationId", "changedIn", "id");

CREATE FUNCTION mark_whitelist_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."changedIn" := pg_current_xact_id();
  RETURN NEW;
END;
$$;

CREATE TRIGGER whitelist_entry_changed BEFORE UPDATE ON "WhitelistEntry"
FOR EACH ROW EXECUTE FUNCTION mark_whitelist_change();

CREATE FUNCTION keep_whitelist_removals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "WhitelistRemoval" (id, "locationId", "plateType", "plateCode", "plateNumber")
  SELECT id, "locationId", "plateType", "plateCode", "plateNumber" FROM removed;
  RETURN NULL;
END;
$$;

CREATE TRIGGER whitelist_entry_removed AFTER DELETE ON "WhitelistEntry"
REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION keep_whitelist_removals();
