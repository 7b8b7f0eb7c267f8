import type { FeedPosition } from './cursor.ts';

// The SQL in this file reads the current position in the whitelist feed. The gateway stores the position in a cursor,
// so that a client can later continue to read the whitelist feed from the cursor.

/**
 * SQL for a hash that identifies the database and the table `WhitelistChange`, and the timeline (the recovery history)
 * of the PostgreSQL server. The hash depends on the timeline of the PostgreSQL server, so the hash changes after a
 * failover or a recovery, when PostgreSQL starts a new timeline. After a failover, the column `timeline_id` shows the
 * new timeline only after the first checkpoint, which can come minutes later. Until this first checkpoint, only the
 * column `min_recovery_end_timeline` contains the number of the new timeline. The hash `feedLife` also changes when an
 * operator restores a dump, because the restore creates a new database or a new table.
 */
export const feedLife = `md5(concat_ws('.', (SELECT system_identifier FROM pg_control_system()),
  (SELECT greatest(timeline_id, min_recovery_end_timeline) FROM pg_control_checkpoint(), pg_control_recovery()),
  (SELECT oid FROM pg_database WHERE datname = current_database()), '"WhitelistChange"'::regclass::oid))`;

/**
 * Returns SQL for the columns that describe the current position in the whitelist feed of a location.
 *
 * @param locationId the SQL expression for the id of the location
 * @param life an SQL expression that returns the hash `feedLife`; pass it if the SQL statement has already computed
 *   this hash
 */
export const positionColumns = (locationId: string, life = feedLife) => `${life} AS life,
  pg_current_snapshot()::text AS snapshot,
  (SELECT max(a.id) FROM "AuditRecord" a WHERE a."locationId" = ${locationId}) AS "newestRecordId",
  statement_timestamp() AS "takenAt"`;

/** One result row of an SQL statement that selects the columns `positionColumns`. */
export type PositionRow = Omit<FeedPosition, 'takenAt'> & { takenAt: Date };

/** Converts a row of the query result to a position in the whitelist feed. */
export const positionOf = ({ life, snapshot, newestRecordId, takenAt }: PositionRow): FeedPosition => ({
  life,
  snapshot,
  newestRecordId,
  takenAt: takenAt.toISOString(),
});
