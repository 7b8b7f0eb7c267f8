/**
 * Returns SQL for the number of whitelist entries, or of open parking sessions, of a location. Database triggers keep
 * the numbers of entries and of open sessions up to date (docs/decisions/location-tallies.md).
 *
 * @param locationId an SQL expression for the id of the location
 */
export const talliedOf = (locationId: string, column: 'entries' | 'openSessions') =>
  `(SELECT coalesce(sum(t."${column}"), 0) FROM "LocationTally" t WHERE t."locationId" = ${locationId})`;
