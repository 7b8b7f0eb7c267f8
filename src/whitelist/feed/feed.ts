import type { AuthenticatedKey } from '../../auth/key.ts';
import { companiesOfReach, reachable } from '../../auth/scope.ts';
import { createStatementBatch } from '../../database/statement-batch.ts';
import type { Sql } from '../../database/types.ts';
import { invalidField } from '../../errors/error-table.ts';
import { isId } from '../../ids.ts';
import { entryOf } from '../columns.ts';
import { readInParts, type WhitelistChanges } from './page.ts';
import type { FeedCursor, FeedCursors, FeedPosition } from './cursor.ts';
import { positionOf } from './position.ts';
import { type ChangeRow, type LocationPosition, readChanges, readPositions } from './statements.ts';
import type { WhitelistReads } from '../reads.ts';

// The whitelist feed first gives a client all whitelist entries, and after that only the changes of the whitelist.
// Database triggers store each change in the table WhitelistChange, together with the number of the transaction that
// made the change. Each time a client starts to read the whitelist or its changes, the gateway takes a transaction
// snapshot of PostgreSQL, and stores the snapshot in the feed cursor. When the client later sends this cursor, the
// gateway returns all whitelist changes that are not in the transaction snapshot that the cursor contains. If a
// transaction is still open when the gateway takes a snapshot, the client receives the changes of this transaction with
// a later snapshot. A client may receive the same whitelist change twice, but always receives the last change of each
// whitelist entry.

/** The maximum number of changes in one page of the whitelist feed. */
export const maxFeedPageSize = 5_000;

/**
 * Returns the feed position from which a client with the given cursor continues. If the database no longer contains all
 * changes after the returned feed position, the client gets all whitelist entries again.
 */
const oldestNeededPosition = ({ next, round }: FeedCursor): FeedPosition =>
  round && 'since' in round ? { ...next, takenAt: round.since.takenAt } : next;

type PositionQuestion = {
  locationId: string;
  /** The companies in the scope of the API key, in the form that `isOfCompanies` expects. */
  ofCompanies: string | null;
  earlier: FeedPosition | undefined;
};

/** The functions that read the whitelist feeds from the database. */
export type WhitelistFeed = ReturnType<typeof createWhitelistFeed>;

/**
 * Creates the functions that read the whitelist feed of a location from the database.
 *
 * @param services.changesKeptDays the number of days for which whitelist changes are kept; a client whose cursor is
 *   older gets all whitelist entries again
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
   * Returns the current position in the whitelist feed of a location, and whether a client can continue from an earlier
   * position. A client can continue from an earlier feed position if the database still contains all changes after this
   * position. A client cannot continue from an earlier feed position if the gateway detects that the database was
   * restored or that a failover happened.
   *
   * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
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
   * Reads a page of the whole whitelist. The cursor contains the feed position that the gateway read before it read the
   * first page of the whitelist. After the client has read the last page of the whitelist, it reads all whitelist
   * changes after the feed position in this cursor. The client therefore also gets the changes that were made while it
   * read the pages of the whitelist.
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

  /** Reads a page of the whitelist changes that come after a position in the whitelist feed. */
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
    // If a whitelist entry has changed several times, the feed page contains only its last change.
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

  /**
   * Reads one part of a feed page, starting after a given cursor. A part of a feed page contains whitelist entries or
   * whitelist changes.
   */
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
      // The text of a transaction snapshot starts with the number of the oldest transaction that was open when the
      // snapshot was taken. The client has already received the changes of all transactions with a lower number than
      // this oldest transaction.
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
     * Reads a page of the whitelist feed of a location. A page has fewer than `size` changes if its whitelist entries
     * contain long texts or many weekly hours.
     *
     * @param after the cursor of the previous page; if omitted, the page contains the first entries of the whole
     *   whitelist
     * @param size the maximum number of changes on the page
     * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
     * @throws {ServiceError} `VALIDATION_ERROR` for a text that is not a cursor of this location
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
     * Returns a cursor for a client that has just read the whole whitelist without using the whitelist feed. With this
     * cursor, the client can later read from the whitelist feed all changes that were made after the call of this
     * function.
     *
     * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
     */
    async cursor(key: AuthenticatedKey, locationId: string): Promise<string> {
      const { now } = await presentPosition(key, locationId);
      return feedCursors.encode({ locationId, next: now, round: null });
    },
  };
}
