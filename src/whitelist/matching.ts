import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { groupBy } from '../database/group-by.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import type { Transaction } from '../database/types.ts';
import { entryColumns, plateTexts } from './columns.ts';
import type { Plate } from './plate.ts';
import { numbersIn, type PlateReading, type RankedText, textsOfReading } from './plate-reading.ts';

// Finds the whitelist entry that the reading of a camera identifies.

/** A plate that a gate sent: either the parts of the plate or the text that a camera read. */
export type PlateInput = { plate: Plate; reading?: undefined } | { plate?: undefined; reading: PlateReading };

/** The texts of a reading, with the plate type if it is known. */
export interface TextQuestion {
  plateType: string | null;
  texts: readonly RankedText[];
}

/** An entry that matches one of the texts of a reading. */
export interface FittingEntry {
  entry: WhitelistEntry;
  /** The index of the text among the texts of the reading. */
  place: number;
}

/** SQL for the texts of several readings, as rows `t`. */
export const textRows = `unnest($n::int[], $place::int[], $plateType::text[], $text::text[], $numbers::text[])
      AS t(n, place, "plateType", text, numbers)`;

/**
 * The SQL condition that an entry `e` matches a text `t`. A text may contain the plate type in front. The condition uses
 * the index of plate numbers, because a text ends with the plate number, and the number can begin at only a few places.
 */
export const fitsText = `e."plateNumber" = ANY (string_to_array(t.numbers, ' '))
      AND t.text IN (${plateTexts('e').join(', ')})
      AND (t."plateType" IS NULL OR e."plateType" = t."plateType")`;

/** Returns the parameters of `textRows`, with one row for each text of each query. */
export function textArrays(questions: readonly TextQuestion[]) {
  const rows = questions.flatMap(({ plateType, texts }, index) =>
    texts.map(({ text }, place) => ({ n: index + 1, place, plateType, text })),
  );
  return {
    n: rows.map(({ n }) => n),
    place: rows.map(({ place }) => place),
    plateType: rows.map(({ plateType }) => plateType),
    text: rows.map(({ text }) => text),
    numbers: rows.map(({ text }) => numbersIn(text).join(' ')),
  };
}

/** Sorts the nearest entry first. Of two equally near entries, the older entry comes first. */
const nearerFirst = (one: FittingEntry, other: FittingEntry) =>
  one.place - other.place || (one.entry.id < other.entry.id ? -1 : 1);

/** Returns the matching entries, sorted by their nearest text. Each entry occurs once. */
export function nearestFirst<Fitting extends FittingEntry>(fitting: readonly Fitting[]): Fitting[] {
  const byId = new Map<string, Fitting>();
  for (const found of fitting.toSorted(nearerFirst)) {
    if (!byId.has(found.entry.id)) byId.set(found.entry.id, found);
  }
  return [...byId.values()];
}

/** Returns the only entry with the best rank, or null when no entry or several entries have that rank. */
export function onlyNearest<Fitting extends FittingEntry>(
  texts: readonly RankedText[],
  nearest: readonly Fitting[],
): Fitting | null {
  const rankOf = ({ place }: Fitting) => texts[place]!.rank;
  const [first, second] = nearest;
  return first && !(second && rankOf(first) === rankOf(second)) ? first : null;
}

const entriesOfTexts = namedStatement(
  'whitelist-entries-of-readings',
  `
    SELECT t.n, t.place, ${entryColumns('e')}
    FROM ${textRows}
    JOIN "WhitelistEntry" e ON e."locationId" = $locationId AND ${fitsText}`,
);

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
    plateType: reading.plateType ?? null,
    texts: textsOfReading(reading, false),
  }));
  const rows = await queryInTransaction<WhitelistEntry & { n: number; place: number }>(
    transaction,
    entriesOfTexts,
    { locationId, ...textArrays(questions) },
  );
  const rowsByQuestion = groupBy(rows, ({ n }) => n);
  return questions.map(({ texts }, index) => {
    const fitting = (rowsByQuestion.get(index + 1) ?? []).map(({ n: _, place, ...entry }) => ({
      entry,
      place,
    }));
    return onlyNearest(texts, nearestFirst(fitting))?.entry ?? null;
  });
}
