import type { WhitelistEntry } from '../../../prisma/generated/client/client.ts';
import { isOfCompanies } from '../../database/company-scope.ts';
import { namedStatement } from '../../database/named-statement.ts';
import { entryColumns, type Nullable } from '../columns.ts';
import { feedLife, positionColumns, type PositionRow } from './position.ts';

// The SQL statements that read the feed of a whitelist. src/whitelist/feed/feed.ts describes the feed.

/** A row of the query result; it contains the current position in the feed of whitelist changes of a location. */
export type LocationPosition = PositionRow & {
  n: number;
  id: string;
  companyId: string;
  timezone: string;
  isContinued: boolean | null;
};

/**
 * Reads the current position in the whitelist feed of each of several locations. The statement also checks whether a
 * client can continue from the position in its cursor. To compute the hash that identifies the server (`feedLife`),
 * PostgreSQL reads a file three times. The statement therefore computes this hash only once.
 */
export const readPositions = namedStatement(
  'whitelist-feed-positions',
  `
    WITH server AS MATERIALIZED (SELECT ${feedLife} AS life)
    SELECT q.n::int, l.id, l."companyId", l.timezone, ${positionColumns('l.id', 'server.life')},
      q.life = server.life
        AND pg_snapshot_xmax(q.snapshot::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
        AND q."takenAt" > statement_timestamp() - make_interval(days => $changesKeptDays::int)
        AND (q."newestRecordId" IS NULL OR EXISTS (
          SELECT FROM "AuditRecord" a WHERE a.id = q."newestRecordId" AND a."locationId" = l.id))
        AS "isContinued"
    FROM server,
      unnest($locationId::text[], $ofCompanies::text[], $life::text[], $snapshot::text[], $takenAt::timestamptz[],
        $newestRecordId::text[])
      WITH ORDINALITY AS q("locationId", "ofCompanies", life, snapshot, "takenAt", "newestRecordId", n)
    JOIN "Location" l ON l.id = q."locationId" AND ${isOfCompanies('l."companyId"')}`,
);

/**
 * A row of the query result; it describes one change of a whitelist. Besides the change, the row of the result contains
 * the current values of the changed whitelist entry. If the whitelist entry no longer exists, the columns of the
 * whitelist entry are null.
 */
export type ChangeRow = Nullable<WhitelistEntry> & {
  changedIn: string;
  changeId: string;
  entryId: string;
  changedType: string;
  changedCode: string;
  changedNumber: string;
};

/**
 * Reads the whitelist changes that were not yet committed when the gateway took the transaction snapshot in the
 * client's cursor. The result starts after the last whitelist change that the client has received. A lateral join in
 * the SQL lets PostgreSQL find each changed whitelist entry by its primary key. Even if the whitelist is long,
 * PostgreSQL reads only those whitelist entries that belong to one page of the feed.
 */
export const readChanges = namedStatement(
  'whitelist-feed-changes',
  `
    SELECT c."changedIn"::text, c.id::text AS "changeId", c."entryId", c."plateType" AS "changedType",
      c."plateCode" AS "changedCode", c."plateNumber" AS "changedNumber", ${entryColumns('e')}
    FROM (
      SELECT * FROM "WhitelistChange"
      WHERE "locationId" = $locationId
        AND NOT pg_visible_in_snapshot("changedIn", $since::pg_snapshot)
        -- This condition excludes rows of a restored dump, whose transaction numbers this server may not have reached
        -- yet.
        AND "changedIn" < pg_snapshot_xmax(pg_current_snapshot())
        AND ("changedIn", id) > ($changedIn::xid8, $id::bigint)
      ORDER BY "changedIn", id LIMIT $limit::int
    ) c
    LEFT JOIN LATERAL (
      SELECT * FROM "WhitelistEntry" w WHERE w.id = c."entryId" AND w."locationId" = c."locationId" LIMIT 1
    ) e ON true
    ORDER BY c."changedIn", c.id`,
);
