import { confusableTexts } from './similar-plates.ts';

// A camera sends a plate as one text. This module converts the text to a form that can be compared with entries.

/** The text that a camera read. A client can send a reading instead of the parts of a plate. */
export interface PlateReading {
  /** The text as the camera sent it. */
  text: string;
  /** The issuing authority or region, if the camera or its site knows it. */
  plateType?: string | null | undefined;
  /** The confidence of the camera, from 0 to 1. */
  confidence?: number | null | undefined;
  /** Other texts that the camera considers possible. */
  alternatives?: readonly string[] | null | undefined;
}

/** How near a text is to the text that the camera read. The nearest text that matches an entry decides. */
type ReadingRank = 'TEXT' | 'ALTERNATIVE' | 'CONFUSABLE';

/** A possible text of a plate, in the form of `plateText`. */
export interface RankedText {
  text: string;
  rank: ReadingRank;
}

/**
 * The maximum number of characters of a text, both in the request and after conversion. A plate has at most 29
 * characters.
 */
export const maxPlateTextLength = 50;

/** The maximum number of alternatives of a reading. Cameras send at most ten alternatives. */
export const maxAlternatives = 10;

const arabicDigits = /[\u0660-\u0669\u06f0-\u06f9]/g;

/**
 * Characters that are ignored in a plate: spaces, dashes, dots, and the invisible marks in texts that mix writing
 * directions.
 */
const separators = /[\s\p{Pd}\p{Cf}\u2212.\u00b7\u2022\u2027\u22c5\u30fb\u06d4]/gu;

const onlyAscii = /^[\0-\x7f]*$/;
/** The separators that are ASCII characters. */
const asciiSeparators = /[\s.-]/g;

/**
 * Converts a text of a plate to the form in which texts are compared: NFKC, upper case, ASCII digits instead of
 * Arabic-Indic digits, and without spaces, dashes and dots. The result is empty when the text contains only separators.
 */
export function plateText(text: string): string {
  // Most texts are ASCII, which needs only this fast conversion.
  if (onlyAscii.test(text)) return text.toUpperCase().replace(asciiSeparators, '');
  return (
    text
      .normalize('NFKC')
      .toUpperCase()
      // The last four bits of an Arabic-Indic digit are the value of the digit, in both Unicode blocks of such digits.
      .replace(arabicDigits, (digit) => String(digit.charCodeAt(0) & 0xf))
      .replace(separators, '')
      // The text is normalized again, because `toUpperCase` can split a letter from its marks, and removing a separator
      // can join marks to a letter.
      .normalize('NFKC')
  );
}

/**
 * The form of the characters before the plate number: a plate code, with or without a plate type in front (as in an
 * entry, in upper case).
 */
const beforeNumber = /^([A-Z]{2,4})?(WHITE|[A-Z0-9]{1,3})$/;

/** The maximum number of digits of a plate number. */
const maxNumberDigits = 20;

/**
 * Returns the possible plate numbers in a text, longest first. For example, `DXBA123` has 123, 23 and 3. The database
 * finds entries by these numbers, and then compares the whole text.
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
 * Returns the possible texts of a reading without duplicates, nearest first: the text as read, then the camera's
 * alternatives. With `similar`, the list also contains the texts that differ from the reading by one character that
 * cameras confuse.
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
