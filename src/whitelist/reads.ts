import { Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import { createRowById } from '../database/statement-batch.ts';
import type { Database } from '../database/types.ts';
import { isId } from '../ids.ts';
import { listOfLocation } from '../location-access/list-of-location.ts';
import type { PagedList, WholeList } from '../paging.ts';
import { instantColumns } from './columns.ts';
import { entriesById, type EntryUse, usesById } from './statements.ts';
import { isValidAt } from './validity.ts';
import type { FeedCursors } from './feed/cursor.ts';
import { positionColumns, positionOf, type PositionRow } from './feed/position.ts';

// The functions of this module read whitelists. test/storage/statements.test.ts checks that the SQL statements for
// lists of whitelist entries return the same results as equivalent Prisma queries.

/**
 * The filters for a list of whitelist entries. Each filter except `validAt` selects the whitelist entries that have
 * exactly the given value. A filter that is `undefined` selects all whitelist entries.
 */
export interface WhitelistFilters {
  referenceId?: string | undefined;
  plateType?: string | undefined;
  plateCode?: string | undefined;
  plateNumber?: string | undefined;
  /**
   * Selects the whitelist entries whose validity period contains the given time. The filter `validAt` does not check
   * the weekly hours of the whitelist entries.
   */
  validAt?: Date | undefined;
}

/** The functions that read whitelists from the database. */
export type WhitelistReads = ReturnType<typeof createWhitelistReads>;

/**
 * Creates the functions that read whitelists from the database. The calls of one function that arrive in the same
 * iteration of the event loop share one SQL statement.
 */
export function createWhitelistReads({
  sql,
  kind,
  feedCursors,
}: Pick<Database, 'sql' | 'kind'> & { feedCursors: FeedCursors }) {
  const entries = createKeysetList<
    WhitelistEntry,
    WhitelistFilters & { ownerId: string },
    undefined,
    PositionRow
  >(sql, {
    kind,
    table: 'WhitelistEntry',
    fields: Prisma.WhitelistEntryScalarFieldEnum,
    instants: instantColumns,
    jsonPageColumns: positionColumns('o.id'),
    owner: { table: 'Location', column: 'locationId' },
    filters: {
      referenceId: 'text',
      plateType: 'text',
      plateCode: 'text',
      plateNumber: 'text',
      validAt: { type: 'timestamptz', condition: isValidAt('r', 'q."validAt"'), hasIndex: false },
    },
  });
  const entryById = createRowById<WhitelistEntry>(sql, entriesById);
  const useById = createRowById<EntryUse>(sql, usesById);

  return {
    /**
     * Lists the whitelist entries of a location that match the filters. If the location is outside the scope of the API
     * key, the error `NOT_FOUND` occurs when the caller reads a page of the returned list.
     */
    entriesOf(
      key: AuthenticatedKey,
      locationId: string,
      filters: WhitelistFilters = {},
    ): PagedList<WhitelistEntry> & WholeList {
      const question = { ...filters, ownerId: locationId };
      return {
        ...listOfLocation(entries, key, question),
        async jsonPage(shape, page) {
          const asked = { ...question, ...page, shape, ofCompanies: companiesOfReach(key, locationId) };
          const found = reachable(
            key,
            locationId,
            isId(locationId) ? await entries.jsonPage(asked) : undefined,
          );
          const { items, count, lastId } = found;
          const changesCursor = feedCursors.encode({ locationId, next: positionOf(found), round: null });
          return { items, count, lastId, changesCursor };
        },
      };
    },

    /**
     * Returns how many times the vehicle of a whitelist entry has entered. The function does not check the scope of the
     * API key, so the caller must check the scope.
     */
    async entriesRecorded(id: string): Promise<number> {
      return (await useById(id))?.recorded ?? 0;
    },

    /**
     * Finds a whitelist entry by its id. The function does not check the scope of the API key, so the caller must check
     * the scope. The result is null when the whitelist entry does not exist or belongs to another location.
     */
    async entryOfLocation(locationId: string, id: string): Promise<WhitelistEntry | null> {
      const entry = await entryById(id);
      return entry?.locationId === locationId ? entry : null;
    },
  };
}
