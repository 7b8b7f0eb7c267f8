import { Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import { namedStatement } from '../database/named-statement.ts';
import { createRowById } from '../database/statement-batch.ts';
import type { Database } from '../database/types.ts';
import { isId } from '../ids.ts';
import { listOfLocation } from '../locations/list-of-location.ts';
import type { PagedList, WholeList } from '../pages.ts';
import { isValidAt } from './access-rules.ts';
import { entryColumns, instantColumns } from './columns.ts';
import { encodeFeedCursor } from './feed-cursor.ts';
import { positionColumns, positionOf, type PositionRow } from './feed-position.ts';

// The statements behind lists of entries. test/statements.test.ts compares their results with those of Prisma.

/** A row of a join that may have found nothing. */
export type Nullable<Row> = { [Column in keyof Row]: Row[Column] | null };

/** The entry of such a row. */
export const entryOf = (row: Nullable<WhitelistEntry>): WhitelistEntry | null =>
  row.id === null ? null : (row as WhitelistEntry);

const entriesById = namedStatement(
  'whitelist-entries-by-id',
  `SELECT ${entryColumns('e')} FROM "WhitelistEntry" e WHERE e.id = ANY($ids::text[])`,
);

/** How many entries of a whitelist entry's vehicle were recorded. */
interface EntryUse {
  id: string;
  recorded: number;
}

const usesById = namedStatement(
  'whitelist-uses-by-id',
  'SELECT u."entryId" AS id, u.recorded FROM "WhitelistEntryUse" u WHERE u."entryId" = ANY($ids::text[])',
);

/** What a list of entries may be filtered by: plain equality but for `validAt`; undefined for no filter. */
export interface WhitelistFilters {
  referenceId?: string | undefined;
  plateType?: string | undefined;
  plateCode?: string | undefined;
  plateNumber?: string | undefined;
  /** Only entries that are valid at this time, whatever their hours. */
  validAt?: Date | undefined;
}

/** The reads of whitelists over one database. */
export type WhitelistReads = ReturnType<typeof createWhitelistReads>;

/** Prepares the reads of whitelists. Those of one turn of the event loop are joined. */
export function createWhitelistReads({ sql, kind }: Pick<Database, 'sql' | 'kind'>) {
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
    /** The entries of a location that pass the filters. Its pages are `NOT_FOUND` for a location out of reach. */
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
          const changesCursor = encodeFeedCursor({ locationId, next: positionOf(found), round: null });
          return { items, count, lastId, changesCursor };
        },
      };
    },

    /** How many entries of an entry's vehicle were recorded, whoever asks. */
    async entriesRecorded(id: string): Promise<number> {
      return (await useById(id))?.recorded ?? 0;
    },

    /** The entry of an id, whoever asks; null when it is not, or no longer, in the whitelist of that location. */
    async entryOfLocation(locationId: string, id: string): Promise<WhitelistEntry | null> {
      const entry = await entryById(id);
      return entry?.locationId === locationId ? entry : null;
    },
  };
}
