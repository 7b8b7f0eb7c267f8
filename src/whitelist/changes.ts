import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
import { namedStatement } from '../database/named-statement.ts';
import { isOfCompanies } from '../database/of-companies.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { invalidField } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import { entryColumns } from './columns.ts';
import { readInParts, type WhitelistChanges } from './feed-page.ts';
import { decodeFeedCursor, encodeFeedCursor, type FeedCursor, type FeedPosition } from './feed-cursor.ts';
import { feedLife, positionColumns, positionOf, type PositionRow } from './feed-position.ts';
import { entryOf, type Nullable, type WhitelistReads } from './reads.ts';

// The feed of a whitelist: the whole list once, and from then on what changed. Triggers keep each change in
// WhitelistChange, with the transaction that made it. A round ends with the snapshot that was taken before its first
// read, and the next round reads what that snapshot did not see: so a change is told however late its transaction
// commits. A change may be told twice; the last one of an entry is always told.

/** The most changes of one page. */
export const maxFeedPageSize = 5_000;

/** The present position of locations, and whether a client can go on from an earlier one. */
const readPositions = namedStatement(
  'whitelist-feed-positions',
  `
    SELECT q.n::int, l.id, l."companyId", l.timezone, ${positionColumns('l.id')},
      q.life = ${feedLife}
        AND pg_snapshot_xmax(q.snapshot::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
        AND q."takenAt" > statement_timestamp() - make_interval(days => $changesKeptDays::int)
        AND (q."newestRecordId" IS NULL OR EXISTS (SELECT FROM "AuditRecord" a WHERE a.id = q."newestRecordId"))
        AS "isContinued"
    FROM unnest($locationId::text[], $ofCompanies::text[], $life::text[], $snapshot::text[], $takenAt::timestamptz[],
        $newestRecordId::text[])
      WITH ORDINALITY AS q("locationId", "ofCompanies", life, snapshot, "takenAt", "newestRecordId", n)
    JOIN "Location" l ON l.id = q."locationId" AND ${isOfCompanies('l."companyId"')}`,
);

/**
 * The changes since a snapshot, after a place in their order, each with its entry if that is still there. The entry is
 * looked up by its key whatever the planner expects: a page is short, and the list long.
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
        -- A row of a restored dump may have a number that this server has not reached.
        AND "changedIn" < pg_snapshot_xmax(pg_current_snapshot())
        AND ("changedIn", id) > ($changedIn::xid8, $id::bigint)
      ORDER BY "changedIn", id LIMIT $limit::int
    ) c
    LEFT JOIN LATERAL (
      SELECT * FROM "WhitelistEntry" w WHERE w.id = c."entryId" AND w."locationId" = c."locationId" LIMIT 1
    ) e ON true
    ORDER BY c."changedIn", c.id`,
);

/** What has to be there still for a cursor to go on: the changes since its round of changes began. */
const heldPosition = ({ next, round }: FeedCursor): FeedPosition =>
  round && 'since' in round ? { ...next, takenAt: round.since.takenAt } : next;

type PositionQuestion = {
  locationId: string;
  /** As `isOfCompanies` takes it. */
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

/** The feed of the whitelists of one database. */
export type WhitelistFeed = ReturnType<typeof createWhitelistFeed>;

/**
 * Prepares the feed.
 *
 * @param services.changesKeptDays how long changes are told; an older cursor starts over
 */
export function createWhitelistFeed(services: {
  sql: Sql;
  whitelist: Pick<WhitelistReads, 'entriesOf'>;
  changesKeptDays: number;
}) {
  const { sql, whitelist, changesKeptDays } = services;

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
   * The present position of a location, and whether an earlier one is of the same life of the database and young
   * enough to go on from it.
   *
   * @throws {ServiceError} `NOT_FOUND` for a location out of reach
   */
  async function presentPosition(key: AuthenticatedKey, locationId: string, earlier?: FeedPosition) {
    const found = isId(locationId)
      ? await findPosition({ locationId, ofCompanies: companiesOfReach(key, locationId), earlier })
      : undefined;
    const position = reachable(key, locationId, found);
    const { isContinued, timezone } = position;
    return { now: positionOf(position), isContinued: isContinued === true, timezone };
  }

  /** A page of the whole list, whose round ends at a position that was taken before it began. */
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
    return { upserts, removals: [], hasMore, cursor: encodeFeedCursor({ locationId, next, round }) };
  }

  /** A page of what changed since a position. */
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
    // Of the changes of one entry the last one counts.
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
      cursor: encodeFeedCursor({ locationId, next, round }),
    };
  }

  /** A part of a page, from a cursor on. */
  async function readPart(
    key: AuthenticatedKey,
    locationId: string,
    after: string | null | undefined,
    size: number,
  ): Promise<WhitelistChanges> {
    const cursor = after ? decodeFeedCursor(after) : undefined;
    if (after && cursor?.locationId !== locationId) {
      throw invalidField('after', 'Must be a cursor that whitelistChanges of this location returned', after);
    }
    const { now, isContinued, timezone } = await presentPosition(
      key,
      locationId,
      cursor && heldPosition(cursor),
    );
    if (!cursor || !isContinued) {
      const start = { locationId, next: now, round: null };
      return { ...(await listPage(key, start, undefined, size)), reset: cursor !== undefined, timezone };
    }
    const { next, round } = cursor;
    if (!round) {
      // The snapshot sees whatever was made by transactions before its oldest one.
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
     * A page of the feed of a location. It ends earlier than asked for when its texts are long.
     *
     * @param after the cursor of the page before; the whole list from its start when left out
     * @param size how many changes at most
     * @throws {ServiceError} `NOT_FOUND` for a location out of reach, `VALIDATION_ERROR` for a text that is no
     *   cursor of this location
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
     * The cursor of a client that will have everything that there is now.
     *
     * @throws {ServiceError} `NOT_FOUND` for a location out of reach
     */
    async cursor(key: AuthenticatedKey, locationId: string): Promise<string> {
      const { now } = await presentPosition(key, locationId);
      return encodeFeedCursor({ locationId, next: now, round: null });
    },
  };
}
