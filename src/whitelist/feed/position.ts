import type { FeedPosition } from './cursor.ts';

// SQL for the current position in the history of the database. A client can later continue to read the whitelist feed
// from this position.

/**
 * SQL for the identifier of the database history: a hash of the server, its timeline, the database and the table.
 * PostgreSQL starts a new timeline after a failover or a recovery. Until the first checkpoint on the new timeline,
 * which can take minutes, only `min_recovery_end_timeline` contains the number of the new timeline. When an operator
 * restores a dump, PostgreSQL creates a new database or table, so the identifier of the history also changes.
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
