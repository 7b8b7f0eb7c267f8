-- Plates that are too short for a group (`isShort` in src/parking/refresh-sessions.ts): few, and looked for at each event.
CREATE INDEX "parking_event_short" ON "ParkingEvent"
  ("locationId", (translate(upper(right("plateCode" || "plateNumber", 2)), 'OIBSZ', '01852')), "occurredAt")
  WHERE length("plateCode" || "plateNumber") < 3;
CREATE INDEX "parking_session_short" ON "ParkingSession"
  ("locationId", (translate(upper(right("plateCode" || "plateNumber", 2)), 'OIBSZ', '01852')),
    (coalesce("endedAt", "exitedAt", TIMESTAMPTZ 'infinity')))
  WHERE length("plateCode" || "plateNumber") < 3;
