-- The sessions of a time: those that had not ended before it, and among them those that had begun by its end
-- (src/parking/history-statement.ts). Old times do not read the rows of later sessions.
CREATE INDEX "parking_session_history" ON "ParkingSession"
  ("locationId", (coalesce("endedAt", "exitedAt", TIMESTAMPTZ 'infinity')), (coalesce("enteredAt", "countedAt", "exitedAt")));
