import { confusableTexts } from './similar-plates.ts';

// A camera sends the whole plate as one text. This module converts the text, so that it can be compared with whitelist
// entries.

/** The text that a camera read, with further details. A client can send it instead of the parts of a plate. */
export interface PlateReading {
  /** The text exactly as the camera sent it. */
  text: string;
  /** The authority or region that issued the plate, if the camera or the operator of the gate knows it. */
  plateType?: string | null | undefined;
  /** How sure the camera is of its reading, from 0 to 1. */
  confidence?: number | null | undefined;
  /** Other texts that the camera considers possible. */
  alternatives?: readonly string[] | null | undefined;
}

/**
 * How likely a possible text is: the text that the camera read, an alternative of the camera, or a text that differs by
 * one character. The most likely text that matches an entry decides.
 */
type ReadingRank = 'TEXT' | 'ALTERNATIVE' | 'CONFUSABLE';

/** A text that may be the plate, in the form of `plateText`. */
export interface RankedText {
  text: string;
  rank: ReadingRank;
}

/**
 * The maximum length of a text that a camera read, in characters, before and after the conversion. A plate has at most
 * 29 characters.
 */
export const maxPlateTextLength = 50;

/** The maximum number of alternatives that a camera can send for one reading. Cameras send at most ten alternatives. */
export const maxAlternatives = 10;

const arabicDigits = /[\u0660-\u0669\u06f0-\u06f9]/g;

/**
 * The characters in a text that are ignored: spaces, dashes, dots, and invisible characters that mark the writing
 * direction.
 */
const separators = /[\s\p{Pd}\p{Cf}\u2212.\u00b7\u2022\u2027\u22c5\u30fb\u06d4]/gu;

const onlyAscii = /^[\0-\x7f]*$/;
/** The ASCII characters in `separators`. */
const asciiSeparators = /[\s.-]/g;

/**
 * Converts the text of a plate to a form in which texts can be compared. The form is NFKC in upper case, has ASCII
 * digits instead of Arabic-Indic digits, and has no spaces, dashes and dots. The result is empty when the text contains
 * only ignored characters.
 */
export function plateText(text: string): string {
  // Most texts are ASCII. For an ASCII text, this fast conversion is sufficient.
  if (onlyAscii.test(text)) return text.toUpperCase().replace(asciiSeparators, '');
  return (
    text
      .normalize('NFKC')
      .toUpperCase()
      // In both Unicode blocks of Arabic-Indic digits, the last four bits of a digit are its value.
      .replace(arabicDigits, (digit) => String(digit.charCodeAt(0) & 0xf))
      .replace(separators, '')
      // The text is normalized a second time. `toUpperCase` can split a letter from its accent, and removing a
      // separator can combine an accent with a letter.
      .normalize('NFKC')
  );
}

/**
 * The form of the characters before the plate number: a plate code, optionally after a plate type, both in upper case.
 */
const beforeNumber = /^([A-Z]{2,4})?(WHITE|[A-Z0-9]{1,3})$/;

/** The maximum number of digits of a plate number. */
const maxNumberDigits = 20;

/**
 * Returns the possible plate numbers at the end of a text, longest first. For example, `DXBA123` has 123, 23 and 3. The
 * database finds entries by plate number and then compares their whole texts.
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
 * then the alternatives that the camera sent. With `similar`, the list also has the texts that differ by one character
 * that cameras confuse.
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
