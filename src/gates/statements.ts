import type { QuotaEnforcement, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { isOfCompanies } from '../database/company-scope.ts';
import { namedStatement } from '../database/named-statement.ts';
import { vehiclesInside } from '../parking/quotas.ts';
import { entryColumns, samePlate } from '../whitelist/columns.ts';
import { fitsText, textRows, type TextQuestion } from '../whitelist/matching.ts';
import type { Plate } from '../whitelist/plate.ts';
import { entryOf, type Nullable } from '../whitelist/reads.ts';
import type { FittingFacts } from './access-decision.ts';
import type { AccessFacts } from './access-rules.ts';

// The SQL statements for gate decisions. test/storage/statements.test.ts checks that Prisma returns the same results.

/** A request for a decision about a plate. See `isOfCompanies` for the member `ofCompanies`. */
export type PlateQuestion = Plate & { locationId: string; ofCompanies: string | null };

/** A request for a decision about the texts that a camera may have read. */
export type LocatedTextQuestion = TextQuestion & { locationId: string; ofCompanies: string | null };

/** The columns of the quota that applies to an entry. They are null when there is no quota. */
interface QuotaColumns {
  quotaInside: number | null;
  quotaEnforcement: QuotaEnforcement;
  quotaUsed: number;
}

/**
 * A result row with a location, a matching whitelist entry of the location, and the data that the rules need. The
 * columns of the entry are null when no entry matched.
 */
export type LocationAndEntry = Nullable<WhitelistEntry> &
  Omit<AccessFacts, 'entry' | 'quota'> &
  QuotaColumns & { n: number; foundId: string; companyId: string };

/** A result row with a location, a matching whitelist entry, and the index of the text that matched. */
export type LocationAndFittingEntry = LocationAndEntry & { place: number };

/** Returns the location in the result rows of one request. The result is undefined when the location is unknown. */
const locationOf = ([first]: LocationAndEntry[]) =>
  first && { id: first.foundId, companyId: first.companyId };

/**
 * Returns the location and the matching whitelist entries in the result rows for a plate. The result is undefined when
 * the location is unknown.
 */
export function foundIn(rows: LocationAndEntry[]) {
  const location = locationOf(rows);
  return location && { id: location.id, companyId: location.companyId, found: rows.flatMap(factsIn) };
}

/** The SQL columns of a location `l` and an entry `e` that the rules in src/gates/access-rules.ts need. */
const factColumns = `l.id AS "foundId", l."companyId", l.timezone, ${entryColumns('e')},
      CASE WHEN e."maxEntries" IS NOT NULL
        THEN (SELECT u.recorded FROM "WhitelistEntryUse" u WHERE u."entryId" = e.id) END AS recorded,
      k.inside AS "quotaInside", k.enforcement::text AS "quotaEnforcement", CASE WHEN k.inside IS NOT NULL
        THEN ${vehiclesInside({ locationId: 'l.id', referenceId: 'e."referenceId"' }, 'v.id <> e.id')} END AS "quotaUsed"`;

/** SQL that finds the location `l` for a row `q`, which is one request. */
const locationOfQuestion = `"Location" l ON l.id = q."locationId" AND ${isOfCompanies('l."companyId"')}`;

/** SQL that finds the location of each request only once, even if the request has many plates or texts. */
const reachedLocations = `
    WITH reached AS MATERIALIZED (
      SELECT q.n::int, l.id, l."companyId", l.timezone
      FROM unnest($locationId::text[], $ofCompanies::text[]) WITH ORDINALITY AS q("locationId", "ofCompanies", n)
      JOIN ${locationOfQuestion}
    )`;

/** SQL that adds the quota `k` for the reference of an entry `e`. */
const joinQuota = `LEFT JOIN "Quota" k ON k."locationId" = e."locationId" AND k."referenceId" = e."referenceId"`;

/** Returns the data in a result row for the rules, as a list. The list is empty for a row without an entry. */
function factsIn(row: LocationAndEntry): AccessFacts[] {
  const { timezone, recorded, quotaInside: inside, quotaEnforcement, quotaUsed } = row;
  const entry = entryOf(row);
  const quota = inside === null ? null : { inside, enforcement: quotaEnforcement, used: quotaUsed };
  return entry ? [{ entry, timezone, recorded, quota }] : [];
}

/** Returns the SQL parameters with the locations of several requests. */
export const locationArrays = (questions: readonly Pick<PlateQuestion, 'locationId' | 'ofCompanies'>[]) => ({
  locationId: questions.map(({ locationId }) => locationId),
  ofCompanies: questions.map(({ ofCompanies }) => ofCompanies),
});

/** Returns the SQL parameters with several plates. */
export const plateArrays = (plates: readonly Plate[]) => ({
  plateType: plates.map(({ plateType }) => plateType),
  plateCode: plates.map(({ plateCode }) => plateCode),
  plateNumber: plates.map(({ plateNumber }) => plateNumber),
});

export const entryOfPlate = namedStatement(
  'whitelist-entry-of-plate',
  `
    SELECT q.n::int, ${factColumns}
    FROM unnest($locationId::text[], $ofCompanies::text[], $plateType::text[], $plateCode::text[], $plateNumber::text[])
      WITH ORDINALITY AS q("locationId", "ofCompanies", "plateType", "plateCode", "plateNumber", n)
    JOIN ${locationOfQuestion}
    LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id AND ${samePlate('e', 'q')}
    ${joinQuota}`,
);

/**
 * Finds the entries for several similar plates of each request. The first plate of a request is the plate that the
 * camera read.
 */
export const entriesOfSimilarPlates = namedStatement(
  'whitelist-entries-of-similar-plates',
  `
    ${reachedLocations}
    SELECT p.n, ${factColumns}
    FROM unnest($n::int[], $exact::boolean[], $plateType::text[], $plateCode::text[], $plateNumber::text[])
      AS p(n, exact, "plateType", "plateCode", "plateNumber")
    JOIN reached l USING (n)
    LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id AND ${samePlate('e', 'p')}
    ${joinQuota}
    WHERE p.exact OR e.id IS NOT NULL
    ORDER BY p.n, e.id`,
);

/** Finds the whitelist entries that match one of the texts that a camera may have read. */
export const entriesOfTexts = namedStatement(
  'whitelist-entries-of-texts',
  `
    ${reachedLocations}
    SELECT t.n, t.place, ${factColumns}
    FROM ${textRows}
    JOIN reached l USING (n)
    LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id AND ${fitsText}
    ${joinQuota}
    WHERE t.place = 0 OR e.id IS NOT NULL`,
);

/**
 * Returns the location and the matching whitelist entries in the result rows for texts. The result is undefined when
 * the location is unknown.
 */
export function fittingIn(rows: LocationAndFittingEntry[]) {
  const location = locationOf(rows);
  return (
    location && { id: location.id, companyId: location.companyId, fitting: rows.flatMap(fittingEntryOf) }
  );
}

/**
 * Returns the whitelist entry in a result row, with the index of the text that matched, as a list. The list is empty
 * for a text that matches no entry.
 */
const fittingEntryOf = (row: LocationAndFittingEntry): FittingFacts[] =>
  factsIn(row).map((facts) => ({ entry: facts.entry, facts, place: row.place }));
