import type { QuotaEnforcement, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { isOfCompanies } from '../database/company-scope.ts';
import { namedStatement } from '../database/named-statement.ts';
import { vehiclesInside } from '../parking/vehicle-columns.ts';
import { entryColumns, entryOf, fitsText, type Nullable, samePlate, textRows } from '../whitelist/columns.ts';
import type { TextQuestion } from '../whitelist/matching.ts';
import type { Plate } from '../whitelist/plate.ts';
import type { FittingMatch } from './access-decision.ts';
import type { MatchedEntry } from './access-rules.ts';

// The SQL statements for gate decisions. test/storage/statements.test.ts checks that equivalent Prisma queries return
// the same results.

/**
 * A gate's request for a decision about a plate. `ofCompanies` contains the companies to which the location may belong,
 * or null for all companies (see the function `isOfCompanies`).
 */
export type PlateQuestion = Plate & { locationId: string; ofCompanies: string | null };

/**
 * A gate's request for a decision about a camera reading. A camera reading consists of one or more possible texts of
 * the plate.
 */
export type LocatedTextQuestion = TextQuestion & { locationId: string; ofCompanies: string | null };

/**
 * The columns of the quota that applies to a whitelist entry. If the whitelist entry has no quota, the quota columns
 * are null.
 */
interface QuotaColumns {
  quotaInside: number | null;
  quotaEnforcement: QuotaEnforcement;
  quotaUsed: number | null;
}

/**
 * A row that the database returns for a gate decision: a location, one matching whitelist entry of the location, and
 * the data that the decision needs. If no whitelist entry matches the request, the columns of the whitelist entry
 * contain null in this row.
 */
export type LocationAndEntry = Nullable<WhitelistEntry> &
  Omit<MatchedEntry, 'entry' | 'quota' | 'quotaUsed'> &
  QuotaColumns & { n: number; foundId: string; companyId: string };

/**
 * A row that the database returns for a camera reading: a location and a matching whitelist entry. A camera reading is
 * a list of possible plate texts, and `place` is the index of the plate text that matches the whitelist entry.
 */
export type LocationAndFittingEntry = LocationAndEntry & { place: number };

/**
 * Returns the location from the rows that the database returned for a gate request, or `undefined` when the location is
 * unknown.
 */
const locationOf = ([first]: LocationAndEntry[]) =>
  first && { id: first.foundId, companyId: first.companyId };

/**
 * Returns the location of one gate request, with the whitelist entries of this location that match the plate in the
 * request. `rows` are the rows that the SQL statement `entryOfPlate` or `entriesOfSimilarPlates` returned for the
 * request. Returns `undefined` when the location is unknown.
 */
export function foundIn(rows: LocationAndEntry[]) {
  const location = locationOf(rows);
  return location && { id: location.id, companyId: location.companyId, found: rows.flatMap(matchIn) };
}

/**
 * The maximum number of whitelist entries with the same reference whose vehicles the statement of a gate decision
 * counts. For a reference with more entries, the count takes longer than all the rest of the decision, so
 * src/gates/quota-use.ts counts its vehicles with a separate statement.
 */
export const maxCountedEntries = 100;

/** The SQL condition that at most `maxCountedEntries` whitelist entries have the reference of the entry `e`. */
const isSmallReference = `NOT EXISTS (
        SELECT FROM "WhitelistEntry" v WHERE v."locationId" = l.id AND v."referenceId" = e."referenceId"
        OFFSET ${maxCountedEntries})`;

/** The SQL columns of a location `l` and a whitelist entry `e` that the rules in src/gates/access-rules.ts need. */
const matchColumns = `l.id AS "foundId", l."companyId", l.timezone, ${entryColumns('e')},
      CASE WHEN e."maxEntries" IS NOT NULL
        THEN (SELECT u.recorded FROM "WhitelistEntryUse" u WHERE u."entryId" = e.id) END AS recorded,
      k.inside AS "quotaInside", k.enforcement::text AS "quotaEnforcement", CASE WHEN k.inside IS NOT NULL AND ${isSmallReference}
        THEN ${vehiclesInside({ locationId: 'l.id', referenceId: 'e."referenceId"' }, 'v.id <> e.id')} END AS "quotaUsed"`;

/** SQL that joins each gate request (alias `q`) with its location (alias `l`). */
const locationOfQuestion = `"Location" l ON l.id = q."locationId" AND ${isOfCompanies('l."companyId"')}`;

/**
 * A gate request can contain many plates, or many texts from a camera. With this SQL, a statement reads the location of
 * each gate request only once.
 */
const reachedLocations = `
    WITH reached AS MATERIALIZED (
      SELECT q.n::int, l.id, l."companyId", l.timezone
      FROM unnest($locationId::text[], $ofCompanies::text[]) WITH ORDINALITY AS q("locationId", "ofCompanies", n)
      JOIN ${locationOfQuestion}
    )`;

/** SQL that joins a whitelist entry `e` with the quota `k` of its reference, such as an apartment. */
const joinQuota = `LEFT JOIN "Quota" k ON k."locationId" = e."locationId" AND k."referenceId" = e."referenceId"`;

/**
 * Returns a list with one item: the data that a gate decision needs about the whitelist entry in a database row. If the
 * row contains no whitelist entry, the function returns an empty list.
 */
function matchIn(row: LocationAndEntry): MatchedEntry[] {
  const { timezone, recorded, quotaInside: inside, quotaEnforcement: enforcement, quotaUsed } = row;
  const entry = entryOf(row);
  const quota = inside === null ? null : { inside, enforcement };
  return entry ? [{ entry, timezone, recorded, quota, quotaUsed }] : [];
}

/** Returns SQL parameters that contain the locations of several gate requests. */
export const locationArrays = (questions: readonly Pick<PlateQuestion, 'locationId' | 'ofCompanies'>[]) => ({
  locationId: questions.map(({ locationId }) => locationId),
  ofCompanies: questions.map(({ ofCompanies }) => ofCompanies),
});

export const entryOfPlate = namedStatement(
  'whitelist-entry-of-plate',
  `
    SELECT q.n::int, ${matchColumns}
    FROM unnest($locationId::text[], $ofCompanies::text[], $plateType::text[], $plateCode::text[], $plateNumber::text[])
      WITH ORDINALITY AS q("locationId", "ofCompanies", "plateType", "plateCode", "plateNumber", n)
    JOIN ${locationOfQuestion}
    LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id AND ${samePlate('e', 'q')}
    ${joinQuota}`,
);

/**
 * Finds the whitelist entries whose plate is equal or similar to the plate of a gate request, because a camera may have
 * misread the plate. For each gate request, the SQL statement gets a list of plates: first the plate that the gate
 * sent, and then all plates that are similar to it.
 */
export const entriesOfSimilarPlates = namedStatement(
  'whitelist-entries-of-similar-plates',
  `
    ${reachedLocations}
    SELECT p.n, ${matchColumns}
    FROM unnest($n::int[], $exact::boolean[], $plateType::text[], $plateCode::text[], $plateNumber::text[])
      AS p(n, exact, "plateType", "plateCode", "plateNumber")
    JOIN reached l USING (n)
    LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id AND ${samePlate('e', 'p')}
    ${joinQuota}
    WHERE p.exact OR e.id IS NOT NULL
    ORDER BY p.n, e.id`,
);

/** Finds the whitelist entries that match one of the possible texts of a camera reading. */
export const entriesOfTexts = namedStatement(
  'whitelist-entries-of-texts',
  `
    ${reachedLocations}
    SELECT t.n, t.place, ${matchColumns}
    FROM ${textRows}
    JOIN reached l USING (n)
    LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id AND ${fitsText}
    ${joinQuota}
    WHERE t.place = 0 OR e.id IS NOT NULL`,
);

/**
 * Returns the location of one gate request, with the whitelist entries of this location that match a plate text that
 * the camera read. `rows` are the rows that the SQL statement `entriesOfTexts` returned for the request. Returns
 * `undefined` when the location is unknown.
 */
export function fittingIn(rows: LocationAndFittingEntry[]) {
  const location = locationOf(rows);
  return (
    location && { id: location.id, companyId: location.companyId, fitting: rows.flatMap(fittingEntryOf) }
  );
}

/**
 * Returns a list that contains the whitelist entry of one database row. A camera reading has several possible plate
 * texts, and the list item also contains `place`, the index of the plate text that matches the whitelist entry. If the
 * row contains no whitelist entry, the function returns an empty list.
 */
const fittingEntryOf = (row: LocationAndFittingEntry): FittingMatch[] =>
  matchIn(row).map((matched) => ({ entry: matched.entry, matched, place: row.place }));
