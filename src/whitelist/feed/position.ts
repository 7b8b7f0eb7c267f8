import type { FeedPosition } from './cursor.ts';

// SQL for the current position in the whitelist feed. The gateway stores the position in a cursor, so that a client can
// later continue to read the whitelist feed from the cursor.

/**
 * SQL for a hash of the PostgreSQL server, the timeline of the server, the database, and the table `WhitelistChange`.
 * PostgreSQL starts a new timeline after a failover or a recovery. `timeline_id` contains the number of a new timeline
 * only after the first checkpoint, which can take minutes. Before the first checkpoint, `min_recovery_end_timeline`
 * already contains the number of the new timeline. When an operator restores a dump, PostgreSQL creates a new database
 * or table, so the hash also changes.
 */
export const feedLife = `md5(concat_ws('.', (SELECT system_identifier FROM pg_control_system()),
  (SELECT greatest(timeline_id, min_recovery_end_timeline) FROM pg_control_checkpoint(), pg_control_recovery()),
  (SELECT oid FROM pg_database WHERE datname = current_database()), '"WhitelistChange"'::regclass::oid))`;

/**
 * Returns SQL for the columns that describe the current position in the whitelist feed of a location.
 *
 * @param locationId the SQL expression for the id of the location
 */
export const positionColumns = (locationId: string) => `${feedLife} AS life,
  pg_current_snapshot()::text AS snapshot,
  (SELECT max(a.id) FROM "AuditRecord" a WHERE a."locationId" = ${locationId}) AS "newestRecordId",
  statement_timestamp() AS "takenAt"`;

/** A result row with the columns of `positionColumns`. */
export type PositionRow = Omit<FeedPosition, 'takenAt'> & { takenAt: Date };

/** Converts a result row to a position in the whitelist feed. */
export const positionOf = ({ life, snapshot, newestRecordId, takenAt }: PositionRow): FeedPosition => ({
  life,
  snapshot,
  newestRecordId,
  takenAt: takenAt.toISOString(),
});
