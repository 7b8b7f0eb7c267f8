import type { Plate } from './plate.ts';

/** Characters that cameras take for each other. */
const confused = ['0O', '1I', '8B', '5S', '2Z'];

const twins = new Map(
  confused.flatMap((pair): [string, string][] => [
    [pair[0]!, pair[1]!],
    [pair[1]!, pair[0]!],
  ]),
);

/** One character of a plate that was read differently from what the whitelist has. */
export interface PlateDifference {
  field: keyof Plate;
  /** Which character of the field, counted from 1. */
  position: number;
  read: string;
  listed: string;
}

const fields = ['plateType', 'plateCode', 'plateNumber'] as const;

/** How many plates may differ from one by a character: as many as it has characters. */
export const maxSimilarPlates = 27;

/** The texts that differ from one by one character that cameras confuse. */
export const twinsOf = (text: string): string[] =>
  text.split('').flatMap((character, index) => {
    const twin = twins.get(character);
    return twin ? [text.slice(0, index) + twin + text.slice(index + 1)] : [];
  });

/** A plate as read, then each plate that differs from it by one character that cameras confuse. */
export function similarPlates({ plateType, plateCode, plateNumber }: Plate): Plate[] {
  const read = { plateType, plateCode, plateNumber };
  const variants = fields.flatMap((field) =>
    twinsOf(read[field]).map((twin) => ({ ...read, [field]: twin })),
  );
  return [read, ...variants];
}

/** Where a plate was read differently from an entry of the same length. */
export function plateDifferences(read: Plate, listed: Plate): PlateDifference[] {
  return fields.flatMap((field) =>
    [...read[field]].flatMap((character, index) => {
      const other = listed[field].charAt(index);
      return character === other ? [] : [{ field, position: index + 1, read: character, listed: other }];
    }),
  );
}

/** Where a text was read differently from the text of an entry, if both are of the same length. */
export function textDifferences(read: string, text: string, listed: Plate): PlateDifference[] {
  if (read.length !== text.length) return [];
  const isWithType = text.length === fields.reduce((length, field) => length + listed[field].length, 0);
  const shown = isWithType ? fields : fields.filter((field) => field !== 'plateType');
  const places = shown.flatMap((field) =>
    listed[field].split('').map((character, index) => ({ field, position: index + 1, listed: character })),
  );
  return places.flatMap((place, index) =>
    read[index] === text[index] ? [] : [{ ...place, read: read[index]! }],
  );
}
