import type { WhitelistEntry } from '../../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../../auth/key.ts';
import { companiesOfReach, reachable } from '../../auth/scope.ts';
import { namedStatement } from '../../database/named-statement.ts';
import { isOfCompanies } from '../../database/company-scope.ts';
import { createStatementBatch } from '../../database/statement-batch.ts';
import type { Sql } from '../../database/types.ts';
import { invalidField } from '../../errors/error-table.ts';
import { isId } from '../../ids.ts';
import { entryColumns } from '../columns.ts';
import { readInParts, type WhitelistChanges } from './page.ts';
import type { FeedCursor, FeedCursors, FeedPosition } from './cursor.ts';
import { feedLife, positionColumns, positionOf, type PositionRow } from './position.ts';
import { entryOf, type Nullable, type WhitelistReads } from '../reads.ts';

// The feed of a whitelist gives a client the whole list, and after that the changes of the list. Database triggers
// store each change in WhitelistChange with its transaction. A client reads the feed in rounds of pages. The gateway
// takes a snapshot before each round. The next round returns all changes that are not in that snapshot, so no change is
// missed, however late its transaction commits. A client may get a change twice, and always gets the last change of an
// entry.

/** The maximum number of changes in one page of the feed. */
export const maxFeedPageSize = 5_000;

/** Reads the current position of several locations, and whether a client can continue from an earlier position. */
const readPositions = namedStatement(
  'whitelist-feed-positions',
  `
    SELECT q.n::int, l.id, l."companyId", l.timezone, ${positionColumns('l.id')},
      q.life = ${feedLife}
        AND pg_snapshot_xmax(q.snapshot::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
        AND q."takenAt" > statement_timestamp() - make_interval(days => $changesKeptDays::int)
        AND (q."newestRecordId" IS NULL OR EXISTS (
          SELECT FROM "AuditRecord" a WHERE a.id = q."newestRecordId" AND a."locationId" = l.id))
        AS "isContinued"
    FROM unnest($locationId::text[], $ofCompanies::text[], $life::text[], $snapshot::text[], $takenAt::timestamptz[],
        $newestRecordId::text[])
      WITH ORDINALITY AS q("locationId", "ofCompanies", life, snapshot, "takenAt", "newestRecordId", n)
    JOIN "Location" l ON l.id = q."locationId" AND ${isOfCompanies('l."companyId"')}`,
);

/**
 * Reads the changes that are not in a given snapshot, starting after the last change that the client got. Each change
 * comes with its entry if the entry still exists. The lateral join makes PostgreSQL find each entry by its primary key,
 * because a page is short and the whitelist can be long.
 */
const readChanges = namedStatement(
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

/**
 * Returns the oldest position that a cursor refers to. A client can continue from the cursor only if all changes after
 * this position still exist.
 */
const oldestNeededPosition = ({ next, round }: FeedCursor): FeedPosition =>
  round && 'since' in round ? { ...next, takenAt: round.since.takenAt } : next;

type PositionQuestion = {
  locationId: string;
  /** The companies in the scope of the API key, as `isOfCompanies` expects them. */
  ofCompanies: string | null;
  earlier: FeedPosition | undefined;
};

type LocationPosition = PositionRow & {
  n: number;
  id: string;
  companyId: string;
  timezone: string;
  isContinued: boolean | null;
};

type ChangeRow = Nullable<WhitelistEntry> & {
  changedIn: string;
  changeId: string;
  entryId: string;
  changedType: string;
  changedCode: string;
  changedNumber: string;
};

/** The functions that read the feed of the whitelists of one database. */
export type WhitelistFeed = ReturnType<typeof createWhitelistFeed>;

/**
 * Creates the functions that read the feed.
 *
 * @param services.changesKeptDays how many days changes are kept. A client with an older cursor gets the whole list
 *   again
 */
export function createWhitelistFeed(services: {
  sql: Sql;
  whitelist: Pick<WhitelistReads, 'entriesOf'>;
  feedCursors: FeedCursors;
  changesKeptDays: number;
}) {
  const { sql, whitelist, feedCursors, changesKeptDays } = services;

  const findPosition = createStatementBatch<PositionQuestion, LocationPosition, LocationPosition | undefined>(
    sql,
    {
      statementOf: () => readPositions,
      parametersOf: (questions) => ({
        changesKeptDays,
        locationId: questions.map(({ locationId }) => locationId),
        ofCompanies: questions.map(({ ofCompanies }) => ofCompanies),
        life: questions.map(({ earlier }) => earlier?.life ?? null),
        snapshot: questions.map(({ earlier }) => earlier?.snapshot ?? null),
        takenAt: questions.map(({ earlier }) => earlier?.takenAt ?? null),
        newestRecordId: questions.map(({ earlier }) => earlier?.newestRecordId ?? null),
      }),
      answerOf: ([position]) => position,
    },
  );

  /**
   * Returns the current position of a location, and whether a client can continue from an earlier position. For that,
   * the database must still have the same history and all changes since the earlier position.
   *
   * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope
   */
  async function presentPosition(key: AuthenticatedKey, locationId: string, earlier?: FeedPosition) {
    const found = isId(locationId)
      ? await findPosition({ locationId, ofCompanies: companiesOfReach(key, locationId), earlier })
      : undefined;
    const position = reachable(key, locationId, found);
    const { isContinued, timezone } = position;
    return { now: positionOf(position), isContinued: isContinued === true, timezone };
  }

  /**
   * Reads a page of the whole list. The position after this round was taken before the round began, so the next round
   * returns all changes made during this round.
   */
  async function listPage(
    key: AuthenticatedKey,
    { locationId, next }: FeedCursor,
    after: string | undefined,
    size: number,
  ) {
    const page = { after, before: undefined, limit: size + 1, descending: false };
    const found = await whitelist.entriesOf(key, locationId).page(page);
    const upserts = found.slice(0, size);
    const hasMore = found.length > size;
    const round = hasMore ? { entryId: upserts.at(-1)!.id } : null;
    return { upserts, removals: [], hasMore, cursor: feedCursors.encode({ locationId, next, round }) };
  }

  /** Reads a page of the changes of a whitelist since an earlier position. */
  async function changesPage(
    { locationId, next }: FeedCursor,
    from: { since: FeedPosition; changedIn: string; id: string },
    size: number,
  ) {
    const { since, changedIn, id } = from;
    const parameters = { locationId, since: since.snapshot, changedIn, id, limit: size + 1 };
    const found = await sql.query<ChangeRow>(readChanges, readChanges.values(parameters));
    const rows = found.slice(0, size);
    const last = rows.at(-1);
    const hasMore = found.length > size;
    const round = hasMore && last ? { since, changedIn: last.changedIn, id: last.changeId } : null;
    // If an entry changed several times, only its last change is returned.
    const entries = [...new Map(rows.map((row) => [row.entryId, row])).values()];
    return {
      upserts: entries.map(entryOf).filter((entry) => entry !== null),
      removals: entries
        .filter(({ id }) => id === null)
        .map(({ entryId, changedType, changedCode, changedNumber }) => ({
          id: entryId,
          plateType: changedType,
          plateCode: changedCode,
          plateNumber: changedNumber,
        })),
      hasMore,
      cursor: feedCursors.encode({ locationId, next, round }),
    };
  }

  /** Reads one part of a page, starting after a cursor. */
  async function readPart(
    key: AuthenticatedKey,
    locationId: string,
    after: string | null | undefined,
    size: number,
  ): Promise<WhitelistChanges> {
    const sent = after ? feedCursors.decode(after) : undefined;
    if (after && sent?.locationId !== locationId) {
      throw invalidField('after', 'Must be a cursor that whitelistChanges of this location returned', after);
    }
    const cursor = sent?.next ? sent : undefined;
    const { now, isContinued, timezone } = await presentPosition(
      key,
      locationId,
      cursor && oldestNeededPosition(cursor),
    );
    if (!cursor || !isContinued) {
      const start = { locationId, next: now, round: null };
      return { ...(await listPage(key, start, undefined, size)), reset: sent !== undefined, timezone };
    }
    const { next, round } = cursor;
    if (!round) {
      // The snapshot contains every change whose transaction is older than the oldest transaction that was open at the
      // time of the snapshot.
      const [changedIn] = next.snapshot.split(':') as [string];
      const from = { since: next, changedIn, id: '0' };
      return { ...(await changesPage({ locationId, next: now, round }, from, size)), reset: false, timezone };
    }
    const page =
      'entryId' in round
        ? await listPage(key, cursor, round.entryId, size)
        : await changesPage(cursor, round, size);
    return { ...page, reset: false, timezone };
  }

  return {
    /**
     * Reads a page of the feed of a location. The page has fewer than `size` changes when their texts are long.
     *
     * @param after the cursor of the previous page; when omitted, the page is the start of the whole list
     * @param size the maximum number of changes
     * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope, `VALIDATION_ERROR` for a text that is
     *   not a cursor of this location
     */
    changes(
      key: AuthenticatedKey,
      locationId: string,
      after: string | null | undefined,
      size: number,
    ): Promise<WhitelistChanges> {
      return readInParts(after, size, (from, most) => readPart(key, locationId, from, most));
    },

    /**
     * Returns a cursor for a client that has just read the whole list in another way. The feed then continues with
     * later changes.
     *
     * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope
     */
    async cursor(key: AuthenticatedKey, locationId: string): Promise<string> {
      const { now } = await presentPosition(key, locationId);
      return feedCursors.encode({ locationId, next: now, round: null });
    },
  };
}
