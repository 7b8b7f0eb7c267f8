import { randomUUID } from 'node:crypto';

// In this module, a number in a JSON text is called inexact if it changes when JavaScript parses the text and writes
// the text again. Examples of inexact numbers are -0, and numbers with more digits than a 64-bit floating point number
// can store. `JSON.parse` does not report the numbers that it changes. This module therefore remembers each object or
// array that contains an inexact number, and the names of the properties that contain the inexact numbers.

const inexact = new WeakMap<object, Set<string>>();

/** The error message for a JSON value with a number that parsing would change (an inexact number). */
export const inexactNumberMessage =
  'Must not contain numbers that a 64-bit floating point number cannot represent exactly, such as 12345678901234567890: send them as text';

/**
 * Whether an object or array directly contains a number that parsing would change (an inexact number). A number is
 * inexact if it changes when JavaScript parses the number and writes it again. The function finds only the numbers that
 * `parseExactly` or `holdInexactNumber` has recorded.
 */
export const hasInexactNumber = (holder: object): boolean => inexact.has(holder);

/** Whether a JSON value contains, at any depth, a number that parsing would change (an inexact number). */
export function containsInexactNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return hasInexactNumber(value) || Object.values(value).some(containsInexactNumber);
}

/**
 * Whether the property `name` of an object or array is a number that parsing would change (an inexact number), or
 * contains such a number at any depth. A number is inexact if it changes when JavaScript parses the number and writes
 * it again.
 */
export function isInexactMember(holder: object, name: string): boolean {
  if (inexact.get(holder)?.has(name)) return true;
  return Object.hasOwn(holder, name) && containsInexactNumber((holder as Record<string, unknown>)[name]);
}

/**
 * Records that an object or array contains a number that parsing would change (an inexact number). A number is inexact
 * if it changes when JavaScript parses the number and writes it again.
 *
 * @param name the name of the property whose value is the inexact number. If `holder` is an array, `name` is the index
 *   of this number
 */
export function holdInexactNumber(holder: object, name: string): void {
  const names = inexact.get(holder);
  if (names) names.add(name);
  else inexact.set(holder, new Set([name]));
}

/**
 * Matches each place in a JSON text that may contain an inexact number. An inexact number is a number that parsing
 * would change. A number with at most 15 digits and without an exponent is always exact, except for -0. The regular
 * expression can also match inside a JSON string, but such a match only makes `parseExactly` slower.
 */
const suspect = /[[:,\s](?:-0[\s,\]}.]|-?[\d.]{1,400}[eE]|-?[\d.]{16})/;

/** Matches each string and each number in a JSON text. */
const stringsAndNumbers = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * The mark that `parseExactly` inserts before each number that parsing would change (each inexact number).
 * `parseExactly` uses the mark to find the objects and arrays that contain numbers which parsing would change. The text
 * of the mark is random, so a client cannot guess it and cannot send it in a JSON text.
 */
const mark = randomUUID();

/**
 * Parses a JSON text as `JSON.parse` does, and remembers which objects and arrays contain a number that parsing would
 * change (an inexact number). A number is inexact if it changes when JavaScript parses the number and writes it again.
 *
 * @throws {SyntaxError} when the text is not JSON
 */
export function parseExactly(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  if (!suspect.test(text)) return value;
  let found = false;
  const marked = text.replace(stringsAndNumbers, (token) => {
    if (token.startsWith('"') || isExact(token)) return token;
    found = true;
    return `"${mark}${token}"`;
  });
  if (!found) return value;
  return JSON.parse(marked, function remember(this: object, name, item: unknown) {
    if (typeof item !== 'string' || !item.startsWith(mark)) return item;
    holdInexactNumber(this, name);
    return Number(item.slice(mark.length));
  });
}

/**
 * The maximum number of characters of a number that `isExact` accepts. `isExact` returns false for a number with more
 * than `maxNumberCharacters` characters. This maximum is high enough for every exact number without an exponent and
 * without unnecessary zeros. For example, the smallest positive number, 5e-324, has 326 characters without an exponent.
 */
const maxNumberCharacters = 400;

/** Whether a number in a JSON text stays the same when JavaScript parses it and writes it again. */
export function isExact(number: string): boolean {
  if (number.length > maxNumberCharacters) return false;
  const parsed = Number(number);
  return Number.isFinite(parsed) && decimalOf(number) === decimalOf(JSON.stringify(parsed));
}

/**
 * Converts a decimal number to a text that is the same for all notations of the number. For example, each of the
 * notations `150`, `150.0` and `1.5e2` becomes the text `15e1`.
 */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return `${sign}0`;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
