import { randomUUID } from 'node:crypto';

// Some numbers change when a JSON text is parsed and written again: -0, and numbers that a 64-bit floating point number
// cannot represent exactly. `JSON.parse` does not report such numbers. This module therefore remembers the objects and
// arrays that contain one.

const inexact = new WeakSet<object>();

/** Whether an object or array directly contains an inexact number that `parseExactly` or `holdInexactNumber` found. */
export const hasInexactNumber = (holder: object): boolean => inexact.has(holder);

/** Marks an object or array as containing an inexact number. */
export const holdInexactNumber = (holder: object): void => void inexact.add(holder);

/**
 * Finds places in a JSON text that may hold an inexact number. Numbers of up to 15 digits without an exponent are
 * always exact. A match inside a string only costs time.
 */
const suspect = /[[:,\s](?:-0[\s,\]}.]|-?[\d.]{1,400}[eE]|-?[\d.]{16})/;

/** The strings and numbers of a JSON text. */
const stringsAndNumbers = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * The text that temporarily replaces an inexact number while the containing object is searched. The text is random, so
 * that no client can send the same text.
 */
const mark = randomUUID();

/**
 * Parses a JSON text like `JSON.parse`, and remembers which objects and arrays contain an inexact number.
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
 * The length up to which a number is checked, in characters. The smallest exact number has 342 characters without an
 * exponent.
 */
const maxNumberCharacters = 400;

/** Whether a number of a JSON text keeps its value when it is parsed and written again. */
export function isExact(number: string): boolean {
  if (number.length > maxNumberCharacters) return false;
  const parsed = Number(number);
  return Number.isFinite(parsed) && decimalOf(number) === decimalOf(JSON.stringify(parsed));
}

/**
 * A decimal number in a canonical form: its sign, its digits without leading and trailing zeros, and the power of ten.
 */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return `${sign}0`;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
