import { twinsOf } from './similar-plates.ts';

// A camera sends a plate as one text. Here a text is brought into the form in which it is compared with entries.

/** What a camera read, in place of the parts of a plate. */
export interface PlateReading {
  /** The text as the camera sent it. */
  text: string;
  /** The issuing authority or region, when the camera or its site knows it. */
  plateType?: string | null | undefined;
  /** How sure the camera is, from 0 to 1. */
  confidence?: number | null | undefined;
  /** What else the camera takes the plate for. */
  alternatives?: readonly string[] | null | undefined;
}

/** How near a text is to what the camera read; the nearest that fits an entry decides. */
type ReadingRank = 'TEXT' | 'ALTERNATIVE' | 'CONFUSABLE';

/** A text that a plate may have, in the form of `plateText`. */
export interface RankedText {
  text: string;
  rank: ReadingRank;
}

/** The most characters of a text, as sent and as compared: a plate has 29 at most. */
export const maxPlateTextLength = 50;

/** The most alternatives of a reading: cameras send up to ten. */
export const maxAlternatives = 10;

const arabicDigits = /[\u0660-\u0669\u06f0-\u06f9]/g;

/** Spaces, dashes, dots, and the invisible marks that come with text in two directions. */
const separators = /[\s\p{Pd}\p{Cf}\u2212.\u00b7\u2022\u2027\u22c5\u30fb\u06d4]/gu;

const onlyAscii = /^[\0-\x7f]*$/;
/** The separators that are ASCII. */
const asciiSeparators = /[\s.-]/g;

/**
 * A text of a plate in the form in which it is compared: compatible characters as one (NFKC), capital letters, ASCII
 * digits for Arabic-Indic ones, without spaces, dashes and dots. Empty when nothing else is in it.
 */
export function plateText(text: string): string {
  // Most texts: nothing of the rest concerns them.
  if (onlyAscii.test(text)) return text.toUpperCase().replace(asciiSeparators, '');
  return (
    text
      .normalize('NFKC')
      .toUpperCase()
      // The last four bits of both rows of Arabic-Indic digits are their values.
      .replace(arabicDigits, (digit) => String(digit.charCodeAt(0) & 0xf))
      .replace(separators, '')
      // Capital letters may come as a letter and its marks, and a mark may follow what was taken out.
      .normalize('NFKC')
  );
}

/** What may stand before the number: a code, with or without a type (the rule of an entry, in capital letters). */
const beforeNumber = /^([A-Z]{2,4})?(WHITE|[A-Z0-9]{1,3})$/;

/** The most digits of a number. */
const maxNumberDigits = 20;

/**
 * The numbers that a plate with this text may have, longest first: `DXBA123` has 123, 23 and 3. The database finds
 * entries by them, and then compares the whole text.
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
 * The texts that a reading may mean, each once, the nearest first: as read, the camera's alternatives, and if wanted
 * those that differ from what was read by one character that cameras confuse.
 */
export function textsOfReading({ text, alternatives }: PlateReading, similar: boolean): RankedText[] {
  const read = plateText(text);
  const ranked: RankedText[] = [
    { text: read, rank: 'TEXT' },
    ...(alternatives ?? []).map((other): RankedText => ({ text: plateText(other), rank: 'ALTERNATIVE' })),
    ...(similar ? twinsOf(read).map((twin): RankedText => ({ text: twin, rank: 'CONFUSABLE' })) : []),
  ];
  const seen = new Set<string>();
  return ranked.filter(({ text: each }) => each !== '' && !seen.has(each) && seen.add(each));
}
