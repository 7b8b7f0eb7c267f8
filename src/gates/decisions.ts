import type { QuotaEnforcement, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
import { groupBy } from '../database/group-by.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { isOfCompanies } from '../database/company-scope.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
import type { Sql, Transaction } from '../database/types.ts';
import { isId } from '../ids.ts';
import {
  type AccessDecision,
  decideReading,
  decideSimilar,
  decisionBy,
  entryOfReading,
  type FittingEntry,
} from './access-decision.ts';
import type { AccessFacts } from './access-rules.ts';
import { entryColumns, plateTexts, samePlate } from '../whitelist/columns.ts';
import type { Plate } from '../whitelist/plate.ts';
import { numbersIn, type PlateReading, type RankedText, textsOfReading } from '../whitelist/plate-reading.ts';
import { vehiclesInside } from '../parking/quotas.ts';
import { entryOf, type Nullable } from '../whitelist/reads.ts';
import { similarPlates } from '../whitelist/similar-plates.ts';

// The SQL statements of gate decisions. test/storage/statements.test.ts compares their results with Prisma's.

/** A request to decide about a plate. `isOfCompanies` explains the member `ofCompanies`. */
type PlateQuestion = Plate & { locationId: string; ofCompanies: string | null };

/** A request to decide about the texts of a reading. */
interface TextQuestion {
  locationId: string;
  ofCompanies: string | null;
  plateType: string | null;
  texts: readonly RankedText[];
}

/** The quota of an entry. All columns are null when the entry has no quota. */
interface QuotaColumns {
  quotaInside: number | null;
  quotaEnforcement: QuotaEnforcement;
  quotaUsed: number;
}

/**
 * A location, an entry of the location that matched, and the data that the rules check. The columns of the entry are
 * null when no entry matched.
 */
type LocationAndEntry = Nullable<WhitelistEntry> &
  Omit<AccessFacts, 'entry' | 'quota'> &
  QuotaColumns & { n: number; foundId: string; companyId: string };

/** A location and an entry that matched, with the index of the text that matched. */
type LocationAndFittingEntry = LocationAndEntry & { place: number };

/** Returns the location in the rows of one query. The result is undefined when the location is unknown. */
const locationOf = ([first]: LocationAndEntry[]) =>
  first && { id: first.foundId, companyId: first.companyId };

/**
 * Returns the location in the rows of a query about a plate, and the entries that matched. The result is undefined when
 * the location is unknown.
 */
function foundIn(rows: LocationAndEntry[]) {
  const location = locationOf(rows);
  return location && { id: location.id, companyId: location.companyId, found: rows.flatMap(factsIn) };
}

/** The columns of a location `l` and an entry `e` that the rules in src/gates/access-rules.ts check. */
const factColumns = `l.id AS "foundId", l."companyId", l.timezone, ${entryColumns('e')},
      CASE WHEN e."maxEntries" IS NOT NULL
        THEN (SELECT u.recorded FROM "WhitelistEntryUse" u WHERE u."entryId" = e.id) END AS recorded,
      k.inside AS "quotaInside", k.enforcement::text AS "quotaEnforcement", CASE WHEN k.inside IS NOT NULL
        THEN ${vehiclesInside({ locationId: 'l.id', referenceId: 'e."referenceId"' }, 'v.id <> e.id')} END AS "quotaUsed"`;

/** SQL that joins the location `l` of a query row `q`. */
const locationOfQuestion = `"Location" l ON l.id = q."locationId" AND ${isOfCompanies('l."companyId"')}`;

/** SQL that finds the location of each query once, even if a query has many plates or texts. */
const reachedLocations = `
    WITH reached AS MATERIALIZED (
      SELECT q.n::int, l.id, l."companyId", l.timezone
      FROM unnest($locationId::text[], $ofCompanies::text[]) WITH ORDINALITY AS q("locationId", "ofCompanies", n)
      JOIN ${locationOfQuestion}
    )`;

/** SQL that joins the quota `k` of an entry `e`. */
const joinQuota = `LEFT JOIN "Quota" k ON k."locationId" = e."locationId" AND k."referenceId" = e."referenceId"`;

/** Returns the data of a row for the rules, as a list. The list is empty for a row without an entry. */
function factsIn(row: LocationAndEntry): AccessFacts[] {
  const { timezone, recorded, quotaInside: inside, quotaEnforcement, quotaUsed } = row;
  const entry = entryOf(row);
  const quota = inside === null ? null : { inside, enforcement: quotaEnforcement, used: quotaUsed };
  return entry ? [{ entry, timezone, recorded, quota }] : [];
}

/** Returns the location parameters of several queries. */
const locationArrays = (questions: readonly Pick<PlateQuestion, 'locationId' | 'ofCompanies'>[]) => ({
  locationId: questions.map(({ locationId }) => locationId),
  ofCompanies: questions.map(({ ofCompanies }) => ofCompanies),
});

/** Returns the plate parameters of several queries. */
const plateArrays = (plates: readonly Plate[]) => ({
  plateType: plates.map(({ plateType }) => plateType),
  plateCode: plates.map(({ plateCode }) => plateCode),
  plateNumber: plates.map(({ plateNumber }) => plateNumber),
});

const entryOfPlate = namedStatement(
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
 * Finds the entries of several similar plates for each query. The first plate of a query is the plate as the camera
 * read it.
 */
const entriesOfSimilarPlates = namedStatement(
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

/**
 * Finds the entries that match one of the texts of a reading. A text may contain the plate type in front. The statement
 * uses the index of plate numbers, because a text ends with the plate number, and the number can begin at only a few
 * places.
 */
const entriesOfTexts = namedStatement(
  'whitelist-entries-of-texts',
  `
    ${reachedLocations}
    SELECT t.n, t.place, ${factColumns}
    FROM unnest($n::int[], $place::int[], $plateType::text[], $text::text[], $numbers::text[])
      AS t(n, place, "plateType", text, numbers)
    JOIN reached l USING (n)
    LEFT JOIN "WhitelistEntry" e ON e."locationId" = l.id
      AND e."plateNumber" = ANY (string_to_array(t.numbers, ' '))
      AND t.text IN (${plateTexts('e').join(', ')})
      AND (t."plateType" IS NULL OR e."plateType" = t."plateType")
    ${joinQuota}
    WHERE t.place = 0 OR e.id IS NOT NULL`,
);

/** Returns the parameters of `entriesOfTexts`, with one row for each text of each query. */
function textArrays(questions: readonly TextQuestion[]) {
  const rows = questions.flatMap(({ plateType, texts }, index) =>
    texts.map(({ text }, place) => ({ n: index + 1, place, plateType, text })),
  );
  return {
    n: rows.map(({ n }) => n),
    place: rows.map(({ place }) => place),
    ...locationArrays(questions),
    plateType: rows.map(({ plateType }) => plateType),
    text: rows.map(({ text }) => text),
    numbers: rows.map(({ text }) => numbersIn(text).join(' ')),
  };
}

/**
 * Returns the location in the rows of a query about texts, and the entries that matched. The result is undefined when
 * the location is unknown.
 */
function fittingIn(rows: LocationAndFittingEntry[]) {
  const location = locationOf(rows);
  return (
    location && { id: location.id, companyId: location.companyId, fitting: rows.flatMap(fittingEntryOf) }
  );
}

/**
 * Returns the entry of a row with the index of its text, as a list. The list is empty for a text that matches no entry.
 */
const fittingEntryOf = (row: LocationAndFittingEntry): FittingEntry[] =>
  factsIn(row).map((facts) => ({ facts, place: row.place }));

/**
 * Returns the entry that each reading of a location identifies. The result for a reading is null when no entry matches,
 * or when several entries match equally well. Gate decisions follow the same rules. The function runs in a transaction
 * and checks no scope.
 */
export async function entriesOfReadings(
  transaction: Transaction,
  locationId: string,
  readings: readonly PlateReading[],
): Promise<(WhitelistEntry | null)[]> {
  const questions = readings.map((reading) => ({
    locationId,
    ofCompanies: null,
    plateType: reading.plateType ?? null,
    texts: textsOfReading(reading, false),
  }));
  const rows = await queryInTransaction<LocationAndFittingEntry>(
    transaction,
    entriesOfTexts,
    textArrays(questions),
  );
  const rowsByQuestion = groupBy(rows, ({ n }) => n);
  return questions.map(({ texts }, index) =>
    entryOfReading(texts, (rowsByQuestion.get(index + 1) ?? []).flatMap(fittingEntryOf)),
  );
}

/** A plate in a gate's request. The gate sends either the parts of the plate or the text that a camera read. */
export type PlateInput = { plate: Plate; reading?: undefined } | { plate?: undefined; reading: PlateReading };

/** The functions that make gate decisions from one database. */
export type AccessDecisions = ReturnType<typeof createAccessDecisions>;

/** Creates the functions that make gate decisions. Decisions in the same turn of the event loop share one statement. */
export function createAccessDecisions({ sql }: { sql: Sql }) {
  const findPlate = createStatementBatch<PlateQuestion, LocationAndEntry, ReturnType<typeof foundIn>>(sql, {
    statementOf: () => entryOfPlate,
    parametersOf: (questions) => ({ ...locationArrays(questions), ...plateArrays(questions) }),
    answerOf: foundIn,
  });

  const findSimilar = createStatementBatch<PlateQuestion, LocationAndEntry, ReturnType<typeof foundIn>>(sql, {
    statementOf: () => entriesOfSimilarPlates,
    parametersOf: (questions) => {
      const plates = questions.flatMap((question, index) =>
        similarPlates(question).map((plate, position) => ({ ...plate, n: index + 1, exact: position === 0 })),
      );
      return {
        ...locationArrays(questions),
        n: plates.map(({ n }) => n),
        exact: plates.map(({ exact }) => exact),
        ...plateArrays(plates),
      };
    },
    answerOf: foundIn,
  });

  const findTexts = createStatementBatch<TextQuestion, LocationAndFittingEntry, ReturnType<typeof fittingIn>>(
    sql,
    { statementOf: () => entriesOfTexts, parametersOf: textArrays, answerOf: fittingIn },
  );

  return {
    /**
     * Decides whether a vehicle may enter a location at a given time.
     *
     * @param similar whether entries also match when one character differs that cameras confuse
     * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope
     */
    async decideAccess(
      key: AuthenticatedKey,
      locationId: string,
      { plate, reading }: PlateInput,
      { at, similar }: { at: Date; similar: boolean },
    ): Promise<AccessDecision> {
      const ofCompanies = companiesOfReach(key, locationId);
      if (reading) {
        const texts = textsOfReading(reading, similar);
        const question = { locationId, ofCompanies, plateType: reading.plateType ?? null, texts };
        const found = isId(locationId) ? await findTexts(question) : undefined;
        return decideReading(texts, reachable(key, locationId, found).fitting, at);
      }
      const find = similar ? findSimilar : findPlate;
      const found = isId(locationId) ? await find({ locationId, ofCompanies, ...plate }) : undefined;
      const matching = reachable(key, locationId, found).found;
      return similar ? decideSimilar(plate, matching, at) : decisionBy(matching[0] ?? null, at);
    },

    /**
     * Returns the entry of a plate without checking the key's scope. The result is null when the location has no entry
     * for the plate.
     */
    async entryOfPlate(locationId: string, plate: Plate): Promise<WhitelistEntry | null> {
      return (await findPlate({ locationId, ofCompanies: null, ...plate }))?.found[0]?.entry ?? null;
    },
  };
}
