-- Entries that were recorded before they were counted (migration `hours_and_passes`) are counted from their events, as far as
-- those are kept. What is counted already is in the events too, and retention may have removed some of it: the larger
-- number is right. Whoever counts meanwhile waits, and adds to what is written here.
LOCK TABLE "WhitelistEntryUse" IN SHARE ROW EXCLUSIVE MODE;

WITH counted AS (
  SELECT e.id, e."maxEntries", count(*)::int AS recorded
  FROM "ParkingEvent" p
  JOIN "WhitelistEntry" e ON e.id = p."whitelistEntryId" AND e."locationId" = p."locationId"
  WHERE p.kind = 'ENTRY'
  GROUP BY e.id
), written AS (
  INSERT INTO "WhitelistEntryUse" AS u ("entryId", recorded)
  SELECT id, recorded FROM counted
  ON CONFLICT ("entryId") DO UPDATE SET recorded = excluded.recorded WHERE u.recorded < excluded.recorded
  RETURNING "entryId"
)
-- Those who keep a copy of a whitelist hear of passes whose number has changed.
UPDATE "WhitelistEntry" e SET version = e.version
FROM written w WHERE e.id = w."entryId" AND e."maxEntries" IS NOT NULL;
