-- How many entries and open sessions a location has, without counting them (docs/decisions/location-tallies.md).

-- CreateTable
CREATE TABLE "LocationTally" (
    "locationId" TEXT NOT NULL,
    "entries" INTEGER NOT NULL,
    "openSessions" INTEGER NOT NULL
);

-- CreateIndex
CREATE INDEX "location_tally_location" ON "LocationTally"("locationId", "entries", "openSessions");

-- CreateIndex: the open sessions of a location whose longest stay is over, and that are no longer inside.
CREATE INDEX "parking_session_overdue" ON "ParkingSession" ("locationId", "staysUntil")
  WHERE open AND "staysUntil" IS NOT NULL;

-- Joins the rows of a location into one. Rows that another transaction joins are left to it: nothing waits, and each row
-- counts once, in the transaction that ends by removing it.
CREATE FUNCTION fold_location_tally(location text) RETURNS void LANGUAGE sql AS $$
  WITH folded AS (
    DELETE FROM "LocationTally" WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM "LocationTally" WHERE "locationId" = location FOR UPDATE SKIP LOCKED
    )) RETURNING entries, "openSessions"
  )
  INSERT INTO "LocationTally" ("locationId", entries, "openSessions")
  SELECT location, sum(entries), sum("openSessions") FROM folded HAVING count(*) > 0;
$$;

-- About one statement in 64 joins the rows: a location has some 64 of them, and a statement rarely pays for it.
CREATE FUNCTION keep_location_tally(location text, entries bigint, "openSessions" bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "LocationTally" VALUES (location, entries, "openSessions");
  IF random() < 1.0 / 64 THEN PERFORM fold_location_tally(location); END IF;
END;
$$;

CREATE FUNCTION tally_whitelist_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM keep_location_tally("locationId", CASE TG_OP WHEN 'DELETE' THEN -count(*) ELSE count(*) END, 0)
  FROM changed GROUP BY "locationId";
  RETURN NULL;
END;
$$;

CREATE TRIGGER whitelist_tally_by_insert AFTER INSERT ON "WhitelistEntry"
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_whitelist_entries();

CREATE TRIGGER whitelist_tally_by_delete AFTER DELETE ON "WhitelistEntry"
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_whitelist_entries();

CREATE FUNCTION tally_open_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM keep_location_tally("locationId", 0, CASE TG_OP WHEN 'DELETE' THEN -count(*) ELSE count(*) END)
  FROM changed WHERE open GROUP BY "locationId";
  RETURN NULL;
END;
$$;

CREATE TRIGGER session_tally_by_insert AFTER INSERT ON "ParkingSession"
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_open_sessions();

CREATE TRIGGER session_tally_by_delete AFTER DELETE ON "ParkingSession"
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_open_sessions();

CREATE FUNCTION tally_opened_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM keep_location_tally("locationId", 0, sum(change))
  FROM (
    SELECT "locationId", 1 AS change FROM after WHERE open
    UNION ALL SELECT "locationId", -1 FROM before WHERE open
  ) changed
  GROUP BY "locationId" HAVING sum(change) <> 0;
  RETURN NULL;
END;
$$;

CREATE TRIGGER session_tally_by_update AFTER UPDATE ON "ParkingSession"
REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION tally_opened_sessions();

-- What is there already. The triggers above keep writers out until this is committed.
INSERT INTO "LocationTally" ("locationId", entries, "openSessions")
SELECT "locationId", count(*), 0 FROM "WhitelistEntry" GROUP BY 1
UNION ALL SELECT "locationId", 0, count(*) FROM "ParkingSession" WHERE open GROUP BY 1;
