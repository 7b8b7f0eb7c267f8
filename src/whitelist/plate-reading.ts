import { confusableTexts } from './similar-plates.ts';

// A camera sends the plate type, the plate code and the plate number as one text. The functions of this module convert
// the text that a camera read to a form that can be compared with whitelist entries.

/**
 * The text that a camera read, with the camera's confidence and with alternative texts. A client can send this text
 * instead of the type, code and number of a plate.
 */
export interface PlateReading {
  /** The text exactly as the camera sent it. */
  text: string;
  /**
   * The authority or region that issued the plate; omitted if neither the camera nor the operator of the gate knows it.
   */
  plateType?: string | null | undefined;
  /** How sure the camera is of its reading, from 0 to 1. */
  confidence?: number | null | undefined;
  /** Other texts that, according to the camera, may be on the plate. */
  alternatives?: readonly string[] | null | undefined;
}

/**
 * How likely it is that a possible plate text is the real text on the plate. `TEXT` (the text that the camera read) is
 * more likely the real text than `ALTERNATIVE` (an alternative that the camera sent). `CONFUSABLE` (a text that differs
 * from the text of the camera in one character that cameras confuse) is the least likely. If several possible texts
 * match a whitelist entry, the gateway uses the most likely text.
 */
type ReadingRank = 'TEXT' | 'ALTERNATIVE' | 'CONFUSABLE';

/** A text that may be the plate of the vehicle. The text is already normalised by the function `plateText`. */
export interface RankedText {
  text: string;
  rank: ReadingRank;
}

/**
 * The maximum number of characters of a camera text (the plate text that a camera read). The limit applies to the text
 * that the client sends, and also to the normalised text that the function `plateText` returns. A plate has at most 29
 * characters, but the text that a camera read can be longer.
 */
export const maxPlateTextLength = 50;

/**
 * The maximum number of alternatives that the gateway accepts for one camera reading. Cameras send at most ten
 * alternatives.
 */
export const maxAlternatives = 10;

const arabicDigits = /[\u0660-\u0669\u06f0-\u06f9]/g;

/**
 * The gateway ignores these characters when it compares texts of plates: spaces, dashes, dots, and invisible characters
 * that mark the writing direction.
 */
const separators = /[\s\p{Pd}\p{Cf}\u2212.\u00b7\u2022\u2027\u22c5\u30fb\u06d4]/gu;

const onlyAscii = /^[\0-\x7f]*$/;
/** When texts are compared, these ASCII characters are ignored: white space, dots and dashes. */
const asciiSeparators = /[\s.-]/g;

/**
 * Converts the text of a plate to a normalised form, in which the texts of two plates can be compared. The result is in
 * the Unicode form NFKC and in upper case, has ASCII digits instead of Arabic-Indic digits, and contains no spaces,
 * dashes or dots. If the text contains only characters that the function removes (`separators`), the result is empty.
 */
export function plateText(text: string): string {
  // Most plates contain only ASCII characters, and therefore need no Unicode normalization.
  if (onlyAscii.test(text)) return text.toUpperCase().replace(asciiSeparators, '');
  return (
    text
      .normalize('NFKC')
      .toUpperCase()
      // In both Unicode blocks of Arabic-Indic digits, the last four bits of the code point are the value of the digit.
      .replace(arabicDigits, (digit) => String(digit.charCodeAt(0) & 0xf))
      .replace(separators, '')
      // The text must be normalized a second time, because the other conversions can undo the first normalization. For
      // example, `toUpperCase` can separate a letter from its accent, and the second normalisation joins them into one
      // character. If a separator (such as a dot) is between a letter and its accent, NFKC can join the letter and the
      // accent only after the separator is removed.
      .normalize('NFKC')
  );
}

/**
 * Matches the beginning of a camera text (the plate text that a camera read) before the plate number: an optional plate
 * type and a plate code, both in upper case.
 */
const beforeNumber = /^([A-Z]{2,4})?(WHITE|[A-Z0-9]{1,3})$/;

/** The maximum number of digits of a plate number. */
const maxNumberDigits = 20;

/**
 * Returns the possible plate numbers at the end of a text, longest first. For example, the possible plate numbers of
 * `DXBA123` are 123, 23 and 3. The database first finds whitelist entries by plate number, and then compares the whole
 * plate of each entry with the camera's text.
 */
export function numbersIn(text: string): string[] {
  const digits = /[0-9]*$/.exec(text)![0];
  const first = Math.max(text.length - Math.min(digits.length, maxNumberDigits), 1);
  const numbers: string[] = [];
  for (let start = first; start < text.length; start++) {
    if (beforeNumber.test(text.slice(0, start))) numbers.push(text.slice(start));
  }
  return numbers;
}

/**
 * Returns the possible texts of a camera reading without duplicates, most likely first: the text that the camera read,
 * then the alternatives that the camera sent. If `similar` is true, the function also returns texts that are similar to
 * the text that the camera read. A similar text differs in one character from the text that the camera read, and
 * cameras often confuse these two characters.
 */
export function textsOfReading({ text, alternatives }: PlateReading, similar: boolean): RankedText[] {
  const read = plateText(text);
  const ranked: RankedText[] = [
    { text: read, rank: 'TEXT' },
    ...(alternatives ?? []).map((other): RankedText => ({ text: plateText(other), rank: 'ALTERNATIVE' })),
    ...(similar
      ? confusableTexts(read).map((variant): RankedText => ({ text: variant, rank: 'CONFUSABLE' }))
      : []),
  ];
  const seen = new Set<string>();
  return ranked.filter(({ text: each }) => each !== '' && !seen.has(each) && seen.add(each));
}
