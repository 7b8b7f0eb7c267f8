import { randomUUID } from 'node:crypto';

// Some numbers change when a program parses a JSON text and writes it again. Examples are -0 and numbers that a 64-bit
// floating point number cannot represent exactly; this module calls them inexact. `JSON.parse` does not report inexact
// numbers, so this module remembers the objects and arrays that contain one.

const inexact = new WeakSet<object>();

/**
 * Whether an object or array directly contains a number that changes when it is written again. `parseExactly` or
 * `holdInexactNumber` has recorded this.
 */
export const hasInexactNumber = (holder: object): boolean => inexact.has(holder);

/** Records that an object or array contains a number that changes when it is written again. */
export const holdInexactNumber = (holder: object): void => void inexact.add(holder);

/**
 * Finds the places in a JSON text that may have an inexact number. Numbers of up to 15 digits without an exponent are
 * always exact. A match inside a string does no harm and only costs time.
 */
const suspect = /[[:,\s](?:-0[\s,\]}.]|-?[\d.]{1,400}[eE]|-?[\d.]{16})/;

/** Matches each string and each number in a JSON text. */
const stringsAndNumbers = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * The text that replaces an inexact number during parsing, so that the object or array with the number can be found.
 * The text is random, so that no client can send it.
 */
const mark = randomUUID();

/**
 * Parses a JSON text like `JSON.parse`. Remembers the objects and arrays with a number that would change when it is
 * written again.
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
  return JSON.parse(marked, function remember(this: object, _, item: unknown) {
    if (typeof item !== 'string' || !item.startsWith(mark)) return item;
    holdInexactNumber(this);
    return Number(item.slice(mark.length));
  });
}

/**
 * The maximum length of a number that is checked for exactness, in characters. The smallest exact number has 342
 * characters without an exponent.
 */
const maxNumberCharacters = 400;

/** Whether a number in a JSON text stays the same when it is parsed and written again. */
export function isExact(number: string): boolean {
  if (number.length > maxNumberCharacters) return false;
  const parsed = Number(number);
  return Number.isFinite(parsed) && decimalOf(number) === decimalOf(JSON.stringify(parsed));
}

/**
 * Returns a decimal number in a form in which equal numbers are equal texts. The text has the sign, the digits without
 * leading and trailing zeros, and the power of ten.
 */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return `${sign}0`;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
