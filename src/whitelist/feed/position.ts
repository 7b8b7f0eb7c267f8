import type { FeedPosition } from './cursor.ts';

// SQL for the current position in the whitelist feed. The gateway stores the position in a cursor, so that a client can
// later continue to read the whitelist feed from the cursor.

/**
 * SQL for a hash that identifies the PostgreSQL server and its timeline, the database, and the table `WhitelistChange`.
 * After a failover or a recovery, PostgreSQL starts a new timeline, so the hash changes. The column `timeline_id` shows
 * the new timeline only after the first checkpoint, which can come minutes later. Until then, the column
 * `min_recovery_end_timeline` shows the new timeline. The hash also changes when an operator restores a dump, because
 * the restore creates a new database or a new table.
 */
export const feedLife = `md5(concat_ws('.', (SELECT system_identifier FROM pg_control_system()),
  (SELECT greatest(timeline_id, min_recovery_end_timeline) FROM pg_control_checkpoint(), pg_control_recovery()),
  (SELECT oid FROM pg_database WHERE datname = current_database()), '"WhitelistChange"'::regclass::oid))`;

/**
 * Returns SQL for the columns that describe the current position in the whitelist feed of a location.
 *
 * @param locationId the SQL expression for the id of the location
 * @param life the SQL expression for the hash `feedLife`, if the statement has already computed the hash
 */
export const positionColumns = (locationId: string, life = feedLife) => `${life} AS life,
  pg_current_snapshot()::text AS snapshot,
  (SELECT max(a.id) FROM "AuditRecord" a WHERE a."locationId" = ${locationId}) AS "newestRecordId",
  statement_timestamp() AS "takenAt"`;

/** A row that an SQL statement with `positionColumns` returns. */
export type PositionRow = Omit<FeedPosition, 'takenAt'> & { takenAt: Date };

/** Converts a row of the query result to a position in the whitelist feed. */
export const positionOf = ({ life, snapshot, newestRecordId, takenAt }: PositionRow): FeedPosition => ({
  life,
  snapshot,
  newestRecordId,
  takenAt: takenAt.toISOString(),
});
