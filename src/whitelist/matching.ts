import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { groupBy } from '../database/group-by.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import type { Transaction } from '../database/types.ts';
import type { Plate } from './plate.ts';
import { numbersIn, type PlateReading, type RankedText, textsOfReading } from './plate-reading.ts';
import { entriesOfTexts } from './statements.ts';

// The functions of this file find the whitelist entry that matches the plate text that a camera read.

/** A plate in the form that a gate sends: either the parts of the plate, or the text that a camera read. */
export type PlateInput = { plate: Plate; reading?: undefined } | { plate?: undefined; reading: PlateReading };

/** All possible texts of one plate that a camera read, with the plate type if it is known. */
export interface TextQuestion {
  plateType: string | null;
  texts: readonly RankedText[];
}

/** A whitelist entry that matches one of the possible texts of a camera reading. */
export interface FittingEntry {
  entry: WhitelistEntry;
  /**
   * A camera reading has a list of possible texts. `place` is the index of the text that matches the whitelist entry.
   */
  place: number;
}

/**
 * Returns the SQL parameters from which `textRows` builds an SQL table of possible camera texts. Each row of the SQL
 * table contains one possible text of one camera reading.
 */
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
 * The sort order of whitelist entries that match one camera reading. If the camera reports several possible texts, the
 * whitelist entry that matches the most likely text is the first in this order. If two whitelist entries match the same
 * camera text, the older whitelist entry is before the newer whitelist entry.
 */
const nearerFirst = (one: FittingEntry, other: FittingEntry) =>
  one.place - other.place || (one.entry.id < other.entry.id ? -1 : 1);

/**
 * Returns the matching whitelist entries without duplicates. The list begins with the whitelist entry that matches the
 * most likely camera text.
 */
export function nearestFirst<Fitting extends FittingEntry>(fitting: readonly Fitting[]): Fitting[] {
  const byId = new Map<string, Fitting>();
  for (const found of fitting.toSorted(nearerFirst)) {
    if (!byId.has(found.entry.id)) byId.set(found.entry.id, found);
  }
  return [...byId.values()];
}

/**
 * One camera reading can have several possible texts. Returns the whitelist entry that matches the most likely of these
 * texts. Returns null if no whitelist entry matches, or if the two best matches are equally likely.
 */
export function onlyNearest<Fitting extends FittingEntry>(
  texts: readonly RankedText[],
  nearest: readonly Fitting[],
): Fitting | null {
  const rankOf = ({ place }: Fitting) => texts[place]!.rank;
  const [first, second] = nearest;
  return first && !(second && rankOf(first) === rankOf(second)) ? first : null;
}

/**
 * For each of several camera readings at a location, finds the whitelist entry that matches the reading. The result for
 * a camera reading is null if no whitelist entry matches it, or if its two best matches are equally likely. Before the
 * call, the caller must check that the location is in the scope of the API key.
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
