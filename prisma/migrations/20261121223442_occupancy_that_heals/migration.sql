-- AlterTable
ALTER TABLE "Location" ADD COLUMN     "announcedFull" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "longestStayHours" INTEGER;

-- AlterTable
ALTER TABLE "ParkingSession" ADD COLUMN     "endedAt" TIMESTAMPTZ(3),
ADD COLUMN     "staysUntil" TIMESTAMPTZ(3);

-- What was known of full locations followed from the sessions.
UPDATE "Location" l SET "announcedFull" = true
WHERE l.capacity <= (SELECT count(*) FROM "ParkingSession" s WHERE s."locationId" = l.id AND s.open);

UPDATE "ParkingSession" SET "endedAt" = "exitedAt" WHERE "exitedAt" IS NOT NULL;

-- The other ended sessions are entries that another entry of the plate followed.
UPDATE "ParkingSession" s SET "endedAt" = (
  SELECT min(later."occurredAt") FROM "ParkingEvent" later
  WHERE later."locationId" = entry."locationId"
    AND (later."plateType", later."plateCode", later."plateNumber") = (entry."plateType", entry."plateCode", entry."plateNumber")
    AND later.kind = 'ENTRY'
    AND (later."occurredAt", later."eventId") > (entry."occurredAt", entry."eventId")
)
FROM "ParkingEvent" entry
WHERE entry.id = s.id AND s."exitedAt" IS NULL AND NOT s.open;

-- Plates that cameras may take for each other are read together (`familyOf` in src/parking/refresh-sessions.ts): they end
-- in the same three characters, but for those that cameras confuse.
CREATE INDEX "parking_event_family" ON "ParkingEvent"
  ("locationId", (translate(upper(right("plateCode" || "plateNumber", 3)), 'OIBSZ', '01852')), "occurredAt");

CREATE INDEX "parking_session_family" ON "ParkingSession"
  ("locationId", (translate(upper(right("plateCode" || "plateNumber", 3)), 'OIBSZ', '01852')),
    (coalesce("endedAt", "exitedAt", TIMESTAMPTZ 'infinity')));

-- The sessions whose longest stay ends next.
CREATE INDEX "parking_session_stays_until" ON "ParkingSession" ("staysUntil") WHERE open AND "staysUntil" IS NOT NULL;

-- A session goes with what starts it, of whatever table that is.
CREATE FUNCTION remove_sessions_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "ParkingSession" s USING removed r WHERE s.id = r.id;
  RETURN NULL;
END $$;

CREATE TRIGGER parking_event_removed AFTER DELETE ON "ParkingEvent"
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_sessions_of_events();

-- DropForeignKey
ALTER TABLE "ParkingSession" DROP CONSTRAINT "ParkingSession_id_fkey";
