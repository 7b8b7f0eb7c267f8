import { Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { reachable } from '../auth/scope.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import { namedStatement } from '../database/named-statement.ts';
import { createRowById, createStatementBatch } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { isId } from '../ids.ts';
import { listOfLocation } from '../locations/list-of-location.ts';
import type { PagedList, WholeList } from '../pages.ts';
import { type AccessDecision, accessReason, decideSimilar, isValidAt } from './access.ts';
import { entryColumns, instantColumns, samePlate } from './columns.ts';
import { encodeFeedCursor } from './feed-cursor.ts';
import { positionColumns, positionOf, type PositionRow } from './feed-position.ts';
import type { Plate } from './plate.ts';
import { similarPlates } from './similar-plates.ts';

// The statements behind gate decisions and lists of entries. test/statements.test.ts compares their results with
// those of Prisma.

type PlateQuestion = Plate & { locationId: string };

/** A row of a join that may have found nothing. */
export type Nullable<Row> = { [Column in keyof Row]: Row[Column] | null };
/** A location that exists, and an entry that was found there, if any. */
type LocationAndEntry = Nullable<WhitelistEntry> & { n: number; foundId: string; companyId: string };

/** The entry of such a row. */
export const entryOf = (row: Nullable<WhitelistEntry>): WhitelistEntry | null =>
  row.id === null ? null : (row as WhitelistEntry);

/** What a question about a plate finds in a location that exists; undefined for an unknown one. */
function foundIn(rows: LocationAndEntry[]) {
  const [first] = rows;
  return (
    first && {
      id: first.foundId,
      companyId: first.companyId,
      entries: rows.map(entryOf).filter((entry) => entry !== null),
    }
  );
}

/** The columns of a plate that a question asks for, of many questions. */
const plateArrays = (questions: readonly PlateQuestion[]) => ({
  locationId: questions.map(({ locationId }) => locationId),
  plateType: questions.map(({ plateType }) => plateType),
  plateCode: questions.map(({ plateCode }) => plateCode),
  plateNumber: questions.map(({ plateNumber }) => plateNumber),
});

const entryOfPlate = namedStatement(
  'whitelist-entry-of-plate',
  `
    SELECT q.n::int, l.id AS "foundId", l."companyId", ${entryColumns('e')}
    FROM unnest($locationId::text[], $plateType::text[], $plateCode::text[], $plateNumber::text[])
      WITH ORDINALITY AS q("locationId", "plateType", "plateCode", "plateNumber", n)
    JOIN "Location" l ON l.id = q."locationId"
    LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id AND ${samePlate('e', 'q')}`,
);

/** The same for plates of which several stand for one question, the plate as read first. */
const entriesOfSimilarPlates = namedStatement(
  'whitelist-entries-of-similar-plates',
  `
    SELECT q.n, l.id AS "foundId", l."companyId", ${entryColumns('e')}
    FROM unnest($n::int[], $exact::boolean[], $locationId::text[], $plateType::text[], $plateCode::text[],
        $plateNumber::text[])
      AS q(n, exact, "locationId", "plateType", "plateCode", "plateNumber")
    JOIN "Location" l ON l.id = q."locationId"
    LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id AND ${samePlate('e', 'q')}
    WHERE q.exact OR e.id IS NOT NULL
    ORDER BY q.n, e.id`,
);

const entriesById = namedStatement(
  'whitelist-entries-by-id',
  `SELECT ${entryColumns('e')} FROM "WhitelistEntry" e WHERE e.id = ANY($ids::text[])`,
);

/** What a list of entries may be filtered by: plain equality but for `validAt`; undefined for no filter. */
export interface WhitelistFilters {
  referenceId?: string | undefined;
  plateType?: string | undefined;
  plateCode?: string | undefined;
  plateNumber?: string | undefined;
  /** Only entries that let their vehicle in at this time. */
  validAt?: Date | undefined;
}

/** The reads of whitelists over one database. */
export type WhitelistReads = ReturnType<typeof createWhitelistReads>;

/** Prepares the reads of whitelists. Those of one turn of the event loop are joined. */
export function createWhitelistReads({ sql }: { sql: Sql }) {
  const entries = createKeysetList<
    WhitelistEntry,
    WhitelistFilters & { ownerId: string },
    undefined,
    PositionRow
  >(sql, {
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
      validAt: { type: 'timestamptz', condition: isValidAt('r', 'q."validAt"') },
    },
  });
  const entryById = createRowById<WhitelistEntry>(sql, entriesById);

  const findPlate = createStatementBatch<PlateQuestion, LocationAndEntry, ReturnType<typeof foundIn>>(sql, {
    statementOf: () => entryOfPlate,
    parametersOf: plateArrays,
    answerOf: foundIn,
  });

  const findSimilar = createStatementBatch<PlateQuestion, LocationAndEntry, ReturnType<typeof foundIn>>(sql, {
    statementOf: () => entriesOfSimilarPlates,
    parametersOf: (questions) => {
      const plates = questions.flatMap(({ locationId, ...question }, index) =>
        similarPlates(question).map((plate, position) => ({
          ...plate,
          n: index + 1,
          exact: position === 0,
          locationId,
        })),
      );
      return { n: plates.map(({ n }) => n), exact: plates.map(({ exact }) => exact), ...plateArrays(plates) };
    },
    answerOf: foundIn,
  });

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
          const asked = { ...question, ...page, shape };
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

    /**
     * Whether a vehicle may enter a location at a time.
     *
     * @param similar also take entries whose plate differs by one character that cameras confuse
     * @throws {ServiceError} `NOT_FOUND` for a location out of reach
     */
    async decideAccess(
      key: AuthenticatedKey,
      locationId: string,
      plate: Plate,
      { at, similar }: { at: Date; similar: boolean },
    ): Promise<AccessDecision> {
      const find = similar ? findSimilar : findPlate;
      const found = isId(locationId) ? await find({ locationId, ...plate }) : undefined;
      const matching = reachable(key, locationId, found).entries;
      if (similar) return decideSimilar(plate, matching, at);
      const entry = matching[0] ?? null;
      return { reason: accessReason(entry, at), entry, candidates: [] };
    },

    /** The entry of a plate, whoever asks; null when the location has none. */
    async entryOfPlate(locationId: string, plate: Plate): Promise<WhitelistEntry | null> {
      return (await findPlate({ locationId, ...plate }))?.entries[0] ?? null;
    },

    /** The entry of an id, whoever asks; null when it is not, or no longer, in the whitelist of that location. */
    async entryOfLocation(locationId: string, id: string): Promise<WhitelistEntry | null> {
      const entry = await entryById(id);
      return entry?.locationId === locationId ? entry : null;
    },
  };
}
