-- The plates of vehicles inside: quotas find a vehicle by the plate that is listed now. Only open sessions are in it.
CREATE INDEX "parking_session_open_plate" ON "ParkingSession"("locationId", "plateType", "plateCode", "plateNumber") WHERE open;
-- A camera read a vehicle that was not listed: its text is in place of the number.
CREATE INDEX "parking_session_open_text" ON "ParkingSession"("locationId", "plateNumber") WHERE open AND "plateCode" = '';
