import { Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import { namedStatement } from '../database/named-statement.ts';
import { createRowById } from '../database/statement-batch.ts';
import type { Database } from '../database/types.ts';
import { isId } from '../ids.ts';
import { listOfLocation } from '../location-access/list-of-location.ts';
import type { PagedList, WholeList } from '../paging.ts';
import { entryColumns, instantColumns } from './columns.ts';
import { isValidAt } from './validity.ts';
import type { FeedCursors } from './feed/cursor.ts';
import { positionColumns, positionOf, type PositionRow } from './feed/position.ts';

// The SQL statements that list whitelist entries. test/storage/statements.test.ts checks that Prisma returns the same
// results.

/** A result row of an outer join. When no row matched, all columns are null. */
export type Nullable<Row> = { [Column in keyof Row]: Row[Column] | null };

/** Returns the entry in a result row of an outer join, or null when no entry matched. */
export const entryOf = (row: Nullable<WhitelistEntry>): WhitelistEntry | null =>
  row.id === null ? null : (row as WhitelistEntry);

const entriesById = namedStatement(
  'whitelist-entries-by-id',
  `SELECT ${entryColumns('e')} FROM "WhitelistEntry" e WHERE e.id = ANY($ids::text[])`,
);

/** How many times the vehicle of a whitelist entry has entered. */
interface EntryUse {
  id: string;
  recorded: number;
}

const usesById = namedStatement(
  'whitelist-uses-by-id',
  'SELECT u."entryId" AS id, u.recorded FROM "WhitelistEntryUse" u WHERE u."entryId" = ANY($ids::text[])',
);

/** The filters for a list of entries. All filters except `validAt` select equal values. undefined means no filter. */
export interface WhitelistFilters {
  referenceId?: string | undefined;
  plateType?: string | undefined;
  plateCode?: string | undefined;
  plateNumber?: string | undefined;
  /** Selects the entries that are valid at this time. The weekly hours of the entries are ignored. */
  validAt?: Date | undefined;
}

/** The functions that read whitelists from one database. */
export type WhitelistReads = ReturnType<typeof createWhitelistReads>;

/**
 * Creates the functions that read whitelists. One SQL statement answers all calls in the same iteration of the event
 * loop.
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
     * Lists the entries of a location that match the filters. Reading a page throws `NOT_FOUND` for a location outside
     * the key's scope.
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

    /** Returns how many times an entry's vehicle has entered, without checking the key's scope. */
    async entriesRecorded(id: string): Promise<number> {
      return (await useById(id))?.recorded ?? 0;
    },

    /**
     * Finds an entry by id, without checking the key's scope. The result is null when the entry is not, or no longer,
     * in the whitelist of the location.
     */
    async entryOfLocation(locationId: string, id: string): Promise<WhitelistEntry | null> {
      const entry = await entryById(id);
      return entry?.locationId === locationId ? entry : null;
    },
  };
}
