/**
 * Returns SQL for a number that database triggers keep up to date for each location. It is the number of whitelist
 * entries or of open sessions (docs/decisions/location-tallies.md).
 *
 * @param locationId an SQL expression for the id of the location
 */
export const talliedOf = (locationId: string, column: 'entries' | 'openSessions') =>
  `(SELECT coalesce(sum(t."${column}"), 0) FROM "LocationTally" t WHERE t."locationId" = ${locationId})`;
