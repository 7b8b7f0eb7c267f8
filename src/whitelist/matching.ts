import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { groupBy } from '../database/group-by.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import type { Transaction } from '../database/types.ts';
import { entryColumns, plateTexts } from './columns.ts';
import type { Plate } from './plate.ts';
import { numbersIn, type PlateReading, type RankedText, textsOfReading } from './plate-reading.ts';

// This module finds the whitelist entry for the text that a camera read.

/** A plate as a gate sends it: either the parts of the plate, or the text that a camera read. */
export type PlateInput = { plate: Plate; reading?: undefined } | { plate?: undefined; reading: PlateReading };

/** The possible texts of a camera reading, with the plate type if it is known. */
export interface TextQuestion {
  plateType: string | null;
  texts: readonly RankedText[];
}

/** An entry that matches one of the possible texts of a camera reading. */
export interface FittingEntry {
  entry: WhitelistEntry;
  /** The index of the matching text in the list of possible texts. */
  place: number;
}

/**
 * SQL that converts the parameters of `textArrays` to a table `t` with the possible texts of several camera readings.
 */
export const textRows = `unnest($n::int[], $place::int[], $plateType::text[], $text::text[], $numbers::text[])
      AS t(n, place, "plateType", text, numbers)`;

/**
 * The SQL condition that an entry `e` matches a text `t`. The text may begin with the plate type and always ends with
 * the plate number. The condition searches for all endings of the text that can be a plate number, so that it can use
 * the index of plate numbers.
 */
export const fitsText = `e."plateNumber" = ANY (string_to_array(t.numbers, ' '))
      AND t.text IN (${plateTexts('e').join(', ')})
      AND (t."plateType" IS NULL OR e."plateType" = t."plateType")`;

/** Returns the parameters of `textRows`. Each possible text of each camera reading is one row. */
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

/**
 * Compares two matching entries. The entry that matches the more likely text comes first. For the same text, the older
 * entry comes first.
 */
const nearerFirst = (one: FittingEntry, other: FittingEntry) =>
  one.place - other.place || (one.entry.id < other.entry.id ? -1 : 1);

/** Returns the matching entries without duplicates, the entry with the most likely text first. */
export function nearestFirst<Fitting extends FittingEntry>(fitting: readonly Fitting[]): Fitting[] {
  const byId = new Map<string, Fitting>();
  for (const found of fitting.toSorted(nearerFirst)) {
    if (!byId.has(found.entry.id)) byId.set(found.entry.id, found);
  }
  return [...byId.values()];
}

/**
 * Returns the entry with the best rank. The result is null when there is no entry, or when several entries have the
 * best rank.
 */
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
 * Returns the whitelist entry of each camera reading at a location. The result for a reading is null when no entry
 * matches, or when several entries match equally well. Gate decisions follow the same rule. The function runs in a
 * transaction and does not check the scope of the API key.
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
