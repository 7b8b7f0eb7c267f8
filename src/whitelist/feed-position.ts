import type { FeedPosition } from './feed-cursor.ts';

// What a statement says of the moment in which it reads, so that the feed can go on from there.

/**
 * What identifies the order of transactions: the server, its timeline (a failover or a recovery starts a new one),
 * the database and the table (a restored dump has other ones).
 */
export const feedLife = `md5(concat_ws('.', (SELECT system_identifier FROM pg_control_system()),
  (SELECT timeline_id FROM pg_control_checkpoint()),
  (SELECT oid FROM pg_database WHERE datname = current_database()), '"WhitelistChange"'::regclass::oid))`;

/** The position of a location as columns of a statement; `locationId` is SQL. */
export const positionColumns = (locationId: string) => `${feedLife} AS life,
  pg_current_snapshot()::text AS snapshot,
  (SELECT max(a.id) FROM "AuditRecord" a WHERE a."locationId" = ${locationId}) AS "newestRecordId",
  statement_timestamp() AS "takenAt"`;

/** What these columns give. */
export type PositionRow = Omit<FeedPosition, 'takenAt'> & { takenAt: Date };

/** The position that a row tells. */
export const positionOf = ({ life, snapshot, newestRecordId, takenAt }: PositionRow): FeedPosition => ({
  life,
  snapshot,
  newestRecordId,
  takenAt: takenAt.toISOString(),
});
