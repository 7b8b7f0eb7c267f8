import { type Plate, plateColumns } from './plate.ts';

/** The pairs of characters that cameras confuse with each other. */
const confused = ['0O', '1I', '8B', '5S', '2Z'];

const confusedWith = new Map(
  confused.flatMap((pair): [string, string][] => [
    [pair[0]!, pair[1]!],
    [pair[1]!, pair[0]!],
  ]),
);

/**
 * Returns SQL that replaces the letters O, I, B, S and Z with the digits 0, 1, 8, 5 and 2, which cameras confuse with
 * these letters. If cameras may confuse one text with another, the SQL gives the same result for both texts.
 */
export const confusableForm = (text: string) => {
  const [digits, letters] = [0, 1].map((index) => confused.map((pair) => pair[index]).join(''));
  return `translate(upper(${text}), '${letters}', '${digits}')`;
};

/** Replaces letters with digits in the same way as the SQL that `confusableForm` returns. */
export const toConfusableForm = (text: string): string =>
  text.toUpperCase().replace(/[A-Z]/g, (letter) => confusedWith.get(letter) ?? letter);

/** A character that differs between the plate that a camera read and the plate of the whitelist entry. */
export interface PlateDifference {
  field: keyof Plate;
  /**
   * The position of the differing character in one part of the plate, starting at 1. The property `field` names this
   * part, such as the plate code.
   */
  position: number;
  read: string;
  listed: string;
}

/**
 * Returns all texts that a camera could read instead of the given text if the camera confuses one of its characters.
 */
export const confusableTexts = (text: string): string[] =>
  text.split('').flatMap((character, index) => {
    const other = confusedWith.get(character);
    return other ? [text.slice(0, index) + other + text.slice(index + 1)] : [];
  });

/**
 * Returns the plate that the camera read, followed by all plates that are similar to this plate. A similar plate
 * differs from the plate that the camera read in one character that cameras confuse, such as B instead of 8.
 */
export function similarPlates({ plateType, plateCode, plateNumber }: Plate): Plate[] {
  const read = { plateType, plateCode, plateNumber };
  const variants = plateColumns.flatMap((field) =>
    confusableTexts(read[field]).map((other) => ({ ...read, [field]: other })),
  );
  return [read, ...variants];
}

/**
 * Returns the characters that differ between the plate that a camera read and the plate of a whitelist entry. The two
 * plates must have types of the same length, codes of the same length, and numbers of the same length.
 */
export function plateDifferences(read: Plate, listed: Plate): PlateDifference[] {
  return plateColumns.flatMap((field) =>
    [...read[field]].flatMap((character, index) => {
      const other = listed[field].charAt(index);
      return character === other ? [] : [{ field, position: index + 1, read: character, listed: other }];
    }),
  );
}

/**
 * Returns the characters that differ between the text that a camera read and the text of a whitelist entry. If the
 * camera text and the text of the whitelist entry's plate have different lengths, the function returns an empty list.
 */
export function textDifferences(read: string, text: string, listed: Plate): PlateDifference[] {
  if (read.length !== text.length) return [];
  const isWithType = text.length === plateColumns.reduce((length, field) => length + listed[field].length, 0);
  const shown = isWithType ? plateColumns : plateColumns.filter((field) => field !== 'plateType');
  const places = shown.flatMap((field) =>
    listed[field].split('').map((character, index) => ({ field, position: index + 1, listed: character })),
  );
  return places.flatMap((place, index) =>
    read[index] === text[index] ? [] : [{ ...place, read: read[index]! }],
  );
}
