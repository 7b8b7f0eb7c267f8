/**
 * Returns SQL that reads how many whitelist entries or how many open parking sessions a location has. Database triggers
 * keep the numbers of whitelist entries and of open parking sessions up to date (docs/decisions/location-tallies.md).
 *
 * @param locationId an SQL expression for the id of the location
 */
export const talliedOf = (locationId: string, column: 'entries' | 'openSessions') =>
  `(SELECT coalesce(sum(t."${column}"), 0) FROM "LocationTally" t WHERE t."locationId" = ${locationId})`;
