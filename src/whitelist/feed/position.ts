import type { FeedPosition } from './cursor.ts';

// SQL for the position of a statement in the history of the database, so that the feed can continue from there.

/**
 * Identifies a history of transactions by the server, its timeline, the database and the table. A failover or recovery
 * starts a new timeline. A restored dump has a new database or table.
 */
export const feedLife = `md5(concat_ws('.', (SELECT system_identifier FROM pg_control_system()),
  (SELECT timeline_id FROM pg_control_checkpoint()),
  (SELECT oid FROM pg_database WHERE datname = current_database()), '"WhitelistChange"'::regclass::oid))`;

/** Returns SQL for the position of a location as columns of a statement. `locationId` is an SQL expression. */
export const positionColumns = (locationId: string) => `${feedLife} AS life,
  pg_current_snapshot()::text AS snapshot,
  (SELECT max(a.id) FROM "AuditRecord" a WHERE a."locationId" = ${locationId}) AS "newestRecordId",
  statement_timestamp() AS "takenAt"`;

/** A row with the columns of `positionColumns`. */
export type PositionRow = Omit<FeedPosition, 'takenAt'> & { takenAt: Date };

/** Converts a row of a statement to a position in the feed. */
export const positionOf = ({ life, snapshot, newestRecordId, takenAt }: PositionRow): FeedPosition => ({
  life,
  snapshot,
  newestRecordId,
  takenAt: takenAt.toISOString(),
});
