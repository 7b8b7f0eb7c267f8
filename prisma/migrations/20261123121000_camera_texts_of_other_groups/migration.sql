-- Events whose camera text belongs to another plate group than their plate (`isReadApart` in
-- src/parking/session-statements.ts). There are few of them, and the gateway looks for them with each new event.
CREATE INDEX "parking_event_read_apart" ON "ParkingEvent"
  ("locationId", (translate(upper(right("plateCode" || "plateNumber", 2)), 'OIBSZ', '01852')), "occurredAt")
  WHERE text IS NOT NULL AND "plateCode" <> ''
    AND translate(upper(right(translate(text, ' .-', ''), 3)), 'OIBSZ', '01852')
      <> translate(upper(right("plateCode" || "plateNumber", 3)), 'OIBSZ', '01852');
