-- The feed of a whitelist reads a table of changes, in place of a number in each entry: an entry whose index has to
-- change cannot be updated within its page (docs/decisions/whitelist-feed.md). No statement here reads or rewrites the
-- entries. Cursors of before are of another table, and start the whole list again.

DROP TRIGGER whitelist_entry_changed ON "WhitelistEntry";
DROP FUNCTION mark_whitelist_change;
DROP TRIGGER whitelist_entry_removed ON "WhitelistEntry";
DROP FUNCTION keep_whitelist_removals;

-- DropIndex
DROP INDEX "whitelist_entry_changed_in";

-- AlterTable
ALTER TABLE "WhitelistEntry" DROP COLUMN "changedIn";

-- DropTable
DROP TABLE "WhitelistRemoval";

-- CreateTable
CREATE TABLE "WhitelistChange" (
    "locationId" TEXT NOT NULL,
    "changedIn" xid8 NOT NULL DEFAULT pg_current_xact_id(),
    "id" BIGSERIAL NOT NULL,
    "entryId" TEXT NOT NULL,
    "plateType" TEXT NOT NULL,
    "plateCode" TEXT NOT NULL,
    "plateNumber" TEXT NOT NULL,
    "changedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "WhitelistChange_pkey" PRIMARY KEY ("locationId","changedIn","id")
);

-- CreateIndex
CREATE INDEX "whitelist_change_age" ON "WhitelistChange"("changedAt");

-- Keeps the rows that a statement wrote or removed: those of the transition table `changed`.
CREATE FUNCTION keep_whitelist_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "WhitelistChange" ("locationId", "entryId", "plateType", "plateCode", "plateNumber")
  SELECT "locationId", id, "plateType", "plateCode", "plateNumber" FROM changed;
  RETURN NULL;
END;
$$;

CREATE TRIGGER whitelist_change_by_insert AFTER INSERT ON "WhitelistEntry"
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_whitelist_changes();

CREATE TRIGGER whitelist_change_by_update AFTER UPDATE ON "WhitelistEntry"
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_whitelist_changes();

CREATE TRIGGER whitelist_change_by_delete AFTER DELETE ON "WhitelistEntry"
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_whitelist_changes();

-- The count of recorded entries goes with its entry.
CREATE FUNCTION remove_whitelist_entry_uses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "WhitelistEntryUse" u USING removed WHERE u."entryId" = removed.id;
  RETURN NULL;
END;
$$;

CREATE TRIGGER whitelist_entry_removed AFTER DELETE ON "WhitelistEntry"
REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_whitelist_entry_uses();
