import type { QuotaEnforcement, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../audit/record.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
import { groupBy } from '../database/group-by.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { isOfCompanies } from '../database/of-companies.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { isId } from '../ids.ts';
import {
  type AccessDecision,
  decideReading,
  decideSimilar,
  decisionBy,
  entryOfReading,
  type FittingEntry,
} from './access.ts';
import type { AccessFacts } from './access-rules.ts';
import { entryColumns, samePlate } from './columns.ts';
import type { Plate } from './plate.ts';
import { numbersIn, type PlateReading, type RankedText, textsOfReading } from './plate-reading.ts';
import { vehiclesInside } from './quotas.ts';
import { entryOf, type Nullable } from './reads.ts';
import { similarPlates } from './similar-plates.ts';

// The statements behind gate decisions: one for each. test/statements.test.ts compares their results with those of
// Prisma.

/** A question about a plate; `ofCompanies` as `isOfCompanies` takes it. */
type PlateQuestion = Plate & { locationId: string; ofCompanies: string | null };

/** A text of a question, and what else is known of its plate. */
interface TextQuestion {
  locationId: string;
  ofCompanies: string | null;
  plateType: string | null;
  texts: readonly RankedText[];
}

/** The quota of an entry that was found, if it has one. */
interface QuotaColumns {
  quotaInside: number | null;
  quotaEnforcement: QuotaEnforcement;
  quotaUsed: number;
}

/** A location that exists, and an entry that was found there, if any, with what the rules look at. */
type LocationAndEntry = Nullable<WhitelistEntry> &
  Omit<AccessFacts, 'entry' | 'quota'> &
  QuotaColumns & { n: number; foundId: string; companyId: string };

/** The same, with the place of the text that the entry has. */
type LocationAndFittingEntry = LocationAndEntry & { place: number };

/** The location of the rows of a question; undefined for an unknown one. */
const locationOf = ([first]: LocationAndEntry[]) =>
  first && { id: first.foundId, companyId: first.companyId };

/** What a question about a plate finds in a location that exists; undefined for an unknown one. */
function foundIn(rows: LocationAndEntry[]) {
  const location = locationOf(rows);
  return location && { id: location.id, companyId: location.companyId, found: rows.flatMap(factsIn) };
}

/** What a decision reads, of a location `l` and an entry `e`: the rules of src/whitelist/access-rules.ts look at it. */
const factColumns = `l.id AS "foundId", l."companyId", l.timezone, ${entryColumns('e')},
      CASE WHEN e."maxEntries" IS NOT NULL
        THEN (SELECT u.recorded FROM "WhitelistEntryUse" u WHERE u."entryId" = e.id) END AS recorded,
      k.inside AS "quotaInside", k.enforcement::text AS "quotaEnforcement", CASE WHEN k.inside IS NOT NULL
        THEN ${vehiclesInside({ locationId: 'l.id', referenceId: 'e."referenceId"' }, 'v.id <> e.id')} END AS "quotaUsed"`;

/** The location `l` of a question `q`. */
const locationOfQuestion = `"Location" l ON l.id = q."locationId" AND ${isOfCompanies('l."companyId"')}`;

/** The locations of questions, each found once for all the plates or texts that stand for its question. */
const reachedLocations = `
    WITH reached AS MATERIALIZED (
      SELECT q.n::int, l.id, l."companyId", l.timezone
      FROM unnest($locationId::text[], $ofCompanies::text[]) WITH ORDINALITY AS q("locationId", "ofCompanies", n)
      JOIN ${locationOfQuestion}
    )`;

/** Joins the quota `k` of an entry `e`. */
const joinQuota = `LEFT JOIN "Quota" k ON k."locationId" = e."locationId" AND k."referenceId" = e."referenceId"`;

/** The facts of a row that has an entry; none for a location alone. */
function factsIn(row: LocationAndEntry): AccessFacts[] {
  const { timezone, recorded, quotaInside: inside, quotaEnforcement, quotaUsed } = row;
  const entry = entryOf(row);
  const quota = inside === null ? null : { inside, enforcement: quotaEnforcement, used: quotaUsed };
  return entry ? [{ entry, timezone, recorded, quota }] : [];
}

/** The columns of the locations that questions ask about. */
const locationArrays = (questions: readonly Pick<PlateQuestion, 'locationId' | 'ofCompanies'>[]) => ({
  locationId: questions.map(({ locationId }) => locationId),
  ofCompanies: questions.map(({ ofCompanies }) => ofCompanies),
});

/** The columns of plates. */
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

/** The same for plates of which several stand for one question, the plate as read first. */
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

/** The text of an entry in the form of `plateText`: an entry has only ASCII, so that capital letters are enough. */
const textOf = (...parts: string[]) => `upper((${parts.join(' || ')}) COLLATE "C")`;

/**
 * The entries that have one of the texts of a reading, with their type before it or without. The index of plate
 * numbers finds them: the end of a text is the number, and there are few places where it can begin.
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
      AND t.text IN (${textOf('e."plateCode"', 'e."plateNumber"')}, ${textOf('e."plateType"', 'e."plateCode"', 'e."plateNumber"')})
      AND (t."plateType" IS NULL OR e."plateType" = t."plateType")
    ${joinQuota}
    WHERE t.place = 0 OR e.id IS NOT NULL`,
);

/** The parameters of `entriesOfTexts`: a row for each text of each question. */
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

/** What a question about texts finds in a location that exists; undefined for an unknown one. */
function fittingIn(rows: LocationAndFittingEntry[]) {
  const location = locationOf(rows);
  return (
    location && { id: location.id, companyId: location.companyId, fitting: rows.flatMap(fittingEntryOf) }
  );
}

/** The facts of a row, and the place of its text; nothing for a text that no entry has. */
const fittingEntryOf = (row: LocationAndFittingEntry): FittingEntry[] =>
  factsIn(row).map((facts) => ({ facts, place: row.place }));

/**
 * The entry that each reading of a location means: the only one that fits it best; null for none and for several.
 * What is decided for a gate, within a transaction and whoever asks.
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

/** What a gate asks about: a plate in its parts, or what a camera read. */
export type AskedPlate = { plate: Plate; reading?: undefined } | { plate?: undefined; reading: PlateReading };

/** The decisions for gates over one database. */
export type AccessDecisions = ReturnType<typeof createAccessDecisions>;

/** Prepares the decisions for gates. Those of one turn of the event loop are joined. */
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
     * Whether a vehicle may enter a location at a time.
     *
     * @param similar also take entries that differ by one character that cameras confuse
     * @throws {ServiceError} `NOT_FOUND` for a location out of reach
     */
    async decideAccess(
      key: AuthenticatedKey,
      locationId: string,
      { plate, reading }: AskedPlate,
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

    /** The entry of a plate, whoever asks; null when the location has none. */
    async entryOfPlate(locationId: string, plate: Plate): Promise<WhitelistEntry | null> {
      return (await findPlate({ locationId, ofCompanies: null, ...plate }))?.found[0]?.entry ?? null;
    },
  };
}
