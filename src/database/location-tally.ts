/**
 * Writes the SQL expression for a count that database triggers keep up to date for a location: the number of its
 * entries, or of its open sessions (docs/decisions/location-tallies.md).
 *
 * @param locationId an SQL expression for the id of the location
 */
export const talliedOf = (locationId: string, column: 'entries' | 'openSessions') =>
  `(SELECT coalesce(sum(t."${column}"), 0) FROM "LocationTally" t WHERE t."locationId" = ${locationId})`;
