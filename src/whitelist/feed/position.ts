import type { FeedPosition } from './cursor.ts';

// SQL for the current position in the history of the database. With this position, a client can later continue to read
// the feed.

/**
 * SQL that identifies the history of the database by the server, its timeline, the database and the table. A failover
 * or a recovery starts a new timeline. A restored dump has a new database or a new table.
 */
export const feedLife = `md5(concat_ws('.', (SELECT system_identifier FROM pg_control_system()),
  (SELECT timeline_id FROM pg_control_checkpoint()),
  (SELECT oid FROM pg_database WHERE datname = current_database()), '"WhitelistChange"'::regclass::oid))`;

/**
 * Returns SQL for the columns that describe the current position of a location.
 *
 * @param locationId an SQL expression
 */
export const positionColumns = (locationId: string) => `${feedLife} AS life,
  pg_current_snapshot()::text AS snapshot,
  (SELECT max(a.id) FROM "AuditRecord" a WHERE a."locationId" = ${locationId}) AS "newestRecordId",
  statement_timestamp() AS "takenAt"`;

/** A result row with the columns of `positionColumns`. */
export type PositionRow = Omit<FeedPosition, 'takenAt'> & { takenAt: Date };

/** Converts a result row to a position in the feed. */
export const positionOf = ({ life, snapshot, newestRecordId, takenAt }: PositionRow): FeedPosition => ({
  life,
  snapshot,
  newestRecordId,
  takenAt: takenAt.toISOString(),
});
