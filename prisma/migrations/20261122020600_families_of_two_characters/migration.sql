-- A plate may have no more than two characters beside its type: plates that cameras may take for each other have the last
-- two in common, not the last three (`familyOf` in src/parking/refresh-sessions.ts).
DROP INDEX "parking_event_family";
CREATE INDEX "parking_event_family" ON "ParkingEvent"
  ("locationId", (translate(upper(right("plateCode" || "plateNumber", 2)), 'OIBSZ', '01852')), "occurredAt");

DROP INDEX "parking_session_family";
CREATE INDEX "parking_session_family" ON "ParkingSession"
  ("locationId", (translate(upper(right("plateCode" || "plateNumber", 2)), 'OIBSZ', '01852')),
    (coalesce("endedAt", "exitedAt", TIMESTAMPTZ 'infinity')));

DROP INDEX "counted_plate_family";
CREATE INDEX "counted_plate_family" ON "CountedPlate"
  ("countId", (translate(upper(right("plateCode" || "plateNumber", 2)), 'OIBSZ', '01852')));
