/**
 * Returns SQL that reads how many whitelist entries or how many open parking sessions a location has. Database triggers
 * keep both numbers of each location up to date: the number of whitelist entries, and the number of open parking
 * sessions (docs/decisions/location-tallies.md).
 *
 * @param locationId an SQL expression for the id of the location
 */
export const talliedOf = (locationId: string, column: 'entries' | 'openSessions') =>
  `(SELECT coalesce(sum(t."${column}"), 0) FROM "LocationTally" t WHERE t."locationId" = ${locationId})`;
